import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openapiOf } from '../../src/contract/openapi/openapi.ts'

/** Folder of these tests, whose packages `npm run test:generators` installs. */
export const folder = import.meta.dirname
/** True if the packages are installed; otherwise the tests are skipped. */
export const isInstalled = existsSync(join(folder, 'node_modules'))
/** Folder of the generated clients, ignored by git. */
const generated = join(folder, 'generated')

const execute = promisify(execFile)

/** Writes the OpenAPI document to a file; returns its path. */
export function writeDocument(): string {
  mkdirSync(generated, { recursive: true })
  const path = join(generated, 'openapi.json')
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
