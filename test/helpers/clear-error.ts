import { expect } from 'vitest'
import type { Ran } from './cli.ts'

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
