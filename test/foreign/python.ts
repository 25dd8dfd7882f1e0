import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { programOnPath } from '../helpers/process.ts'

/** Debian's Python, for which its packages are installed, or the one on the PATH. */
const python = ['/usr/bin/python3', programOnPath('python3')].find((path) => path && existsSync(path))

/** Runs a program with arguments; returns what it prints as JSON. */
export function runPython(program: string, ...args: readonly string[]) {
  const printed = execFileSync(python ?? 'python3', ['-c', program, ...args], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  return JSON.parse(printed)
}

/** True if Python has a package. Where the readers are required, a missing one is a failure. */
export function hasPackage(name: string): boolean {
  const program = `import importlib.util; raise SystemExit(importlib.util.find_spec('${name}') is None)`
  const isFound = python !== undefined && spawnSync(python, ['-c', program]).status === 0
  if (!isFound && process.env['LEARNCTL_TABLE_READERS'] === 'required') {
    throw new Error(`the readers of tables are required, and Python has no ${name}`)
  }
  return isFound
}
