import { expect } from 'vitest'
import type { Ran, RunOptions, TestCli } from './cli.ts'

type Json = Awaited<ReturnType<Response['json']>>

/** Parses what a command prints with `-o json`; fails unless it exits 0 with nothing on standard error. */
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

/** Runs a line that must end with this code. */
export async function ran(
  cli: TestCli,
  line: string | readonly string[],
  code = 0,
  options: RunOptions = {},
): Promise<Ran> {
  const result = await cli.run(line, options)
  expect(result.code, `${line}\n${result.stdout}${result.stderr}`).toBe(code)
  return result
}

/** Returns the rows of a piped table, each as a list of its cells. */
export async function rowsOf(cli: TestCli, line: string): Promise<string[][]> {
  const { code, stdout, stderr } = await cli.run(line)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((row) => row.split('\t'))
}

/**
 * Expects a run to fail as every command should: with this exit code, nothing on standard output, and one line that
 * says what is wrong, followed by at most a few indented lines with the reason and a hint. Notes may come before.
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
