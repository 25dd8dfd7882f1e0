import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folder = join(tmpdir(), `learnctl-executable-${process.pid}`)
const { platform, arch } = process

/** Path of the executable while its tests run. */
export const executable = join(folder, `learnctl-${platform}-${arch}${platform === 'win32' ? '.exe' : ''}`)

/** Makes the executable of the built program before the tests; returns a function that removes it after them. */
export default function build(): () => void {
  // A killed run with this process id may have left one.
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  const script = join(import.meta.dirname, '../../packaging/executable.ts')
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    execFileSync(process.execPath, [script, folder], { stdio: ['ignore', 'ignore', 'inherit'] })
  } catch (error) {
    remove()
    throw error
  }
  return remove
}
