import { expect } from 'vitest'
import type { Ran, RunOptions, TestCli } from './cli.ts'

type Json = Awaited<ReturnType<Response['json']>>

/** What a command prints under `-o json`; the test fails unless it exits 0 without a word on standard error. */
export async function resultOf(
  cli: TestCli,
  line: string | readonly string[],
  options?: RunOptions,
): Promise<Json> {
  const asJson = typeof line === 'string' ? `${line} -o json` : [...line, '-o', 'json']
  const { code, stdout, stderr } = await cli.run(asJson, options)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}

/** The rows of a piped table, each a list of its cells. */
export async function rowsOf(cli: TestCli, line: string): Promise<string[][]> {
  const { code, stdout, stderr } = await cli.run(line)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((row) => row.split('\t'))
}

/**
 * Expects a run to have failed as every failure should: this exit code, nothing on standard output, and one line that
 * says what is wrong, with at most a few indented ones that say why and what to do. Notes may come before.
 */
export function expectClearError({ code, stdout, stderr }: Ran, exit: number, error: string | RegExp): void {
  expect({ code, stdout, stderr }).toEqual({ code: exit, stdout: '', stderr: expect.stringMatching(/\n$/) })
  const lines = stderr
    .trimEnd()
    .split('\n')
    .filter((line) => !line.startsWith('note: '))
  expect(lines[0]).toMatch(/^error: ./)
  if (typeof error === 'string') expect(stderr).toContain(error)
  else expect(stderr).toMatch(error)
  for (const line of lines.slice(1)) expect(line).toMatch(/^ {2}\S/)
  expect(lines.length).toBeLessThanOrEqual(4)
  expect(stderr).not.toMatch(/^ +at .+:\d+:\d+\)?$/m)
}
