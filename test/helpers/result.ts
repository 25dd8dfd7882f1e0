import { expect } from 'vitest'
import type { RunOptions, TestCli } from './cli.ts'

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
