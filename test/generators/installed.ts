import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openapiOf } from '../../src/contract/openapi/openapi.ts'

/** Folder of these tests, whose packages `npm run test:generators` installs. */
export const folder = import.meta.dirname
/** True if the packages are installed; otherwise the tests are skipped. */
export const isInstalled = existsSync(join(folder, 'node_modules'))
/** Folder of the generated clients and of the document they are made from, ignored by git. */
export const generated = join(folder, 'generated')

const execute = promisify(execFile)

/**
 * Writes the OpenAPI document into a folder; returns its path. Each file of tests uses a folder of its own: they run at the same
 * time, and Prism starts anew when its document changes.
 */
export function writeDocument(directory: string): string {
  mkdirSync(directory, { recursive: true })
  const path = join(directory, 'openapi.json')
  writeFileSync(path, JSON.stringify(openapiOf()))
  return path
}

/** Removes what was generated before. */
export function clear(): void {
  rmSync(generated, { recursive: true, force: true })
}

/** Runs a script of a package in the folder of these tests; returns its output, also if it failed. */
export async function run(script: string, args: readonly string[], env = {}): Promise<string> {
  const path = join(folder, 'node_modules', script)
  const options = { cwd: folder, env: { ...process.env, NO_COLOR: '1', ...env }, maxBuffer: 2 ** 26 }
  try {
    const { stdout, stderr } = await execute(process.execPath, [path, ...args], options)
    return stdout + stderr
  } catch (error) {
    // The error of execFile has the output.
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${script} failed:\n${stdout}${stderr}`)
  }
}
