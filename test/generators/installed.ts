import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openapiOf } from '../../src/contract/openapi/openapi.ts'

/** The folder of these tests, with packages of its own: `npm run test:generators` installs them. */
export const folder = import.meta.dirname
/** Whether they are installed: without them there is nothing to try. */
export const isInstalled = existsSync(join(folder, 'node_modules'))
/** Where what is generated goes; git does not keep it. */
const generated = join(folder, 'generated')

const execute = promisify(execFile)

/** Writes the document for those who read it from a file; the path of the file. */
export function writeDocument(): string {
  mkdirSync(generated, { recursive: true })
  const path = join(generated, 'openapi.json')
  writeFileSync(path, JSON.stringify(openapiOf()))
  return path
}

/** Takes away what was generated before. */
export function clear(): void {
  rmSync(generated, { recursive: true, force: true })
}

/** Runs a script of one of the packages in the folder of these tests; what it printed, whether it failed or not. */
export async function run(script: string, args: readonly string[], env = {}): Promise<string> {
  const path = join(folder, 'node_modules', script)
  const options = { cwd: folder, env: { ...process.env, NO_COLOR: '1', ...env }, maxBuffer: 2 ** 26 }
  try {
    const { stdout, stderr } = await execute(process.execPath, [path, ...args], options)
    return stdout + stderr
  } catch (error) {
    // What execFile throws has what was printed.
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${script} failed:\n${stdout}${stderr}`)
  }
}
