import { access } from 'node:fs/promises'
import { resolve } from 'node:path'
import { openTarget } from '../terminal/target-file.ts'

/** Where the admin's key goes instead of the screen. */
export interface KeyFile {
  /** True when the file was not there: it gets a key, whatever the age of the academy. */
  readonly missing: boolean
  keep(key: string): Promise<void>
}

/** Looks, before anything else is done, whether the key can be written. Throws as openTarget does. */
export async function openKeyFile(cwd: string, name: string): Promise<KeyFile> {
  const exists = await access(resolve(cwd, name)).then(
    () => true,
    () => false,
  )
  // A file of an earlier start holds the key that is still good: it is kept unless there is a new one.
  if (!exists) {
    const probe = await openTarget(cwd, name)
    await probe.discard()
  }
  return {
    missing: !exists,
    async keep(key: string) {
      const target = await openTarget(cwd, name, { force: true, mode: 0o600 })
      await target.write(Buffer.from(`${key}\n`))
      await target.finish()
    },
  }
}
