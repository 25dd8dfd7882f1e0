import { access } from 'node:fs/promises'
import { resolve } from 'node:path'
import { openTarget } from '../terminal/target-file.ts'

/**
 * Secrets that the start of a server prints once: the key of a new academy, and a password for the first
 * admin.
 */
export interface FirstSecrets {
  readonly key?: string
  readonly email?: string
  readonly password?: string
}

/** Formats the URL of a server, followed by its first secrets, one per line. */
export function startText(url: string, { key, email, password }: FirstSecrets): string {
  const lines = [
    url,
    key === undefined ? [] : `Admin API key (shown only once): ${key}`,
    password === undefined
      ? []
      : `Password for ${email} at ${dashboardOf(url)} (shown only once): ${password}`,
  ]
  return `${lines.flat().join('\n')}\n`
}

export function dashboardOf(url: string): string {
  return `${url.replace(/\/+$/, '')}/dashboard`
}

export interface KeyFile {
  /** True if the file did not exist: then it gets a key, even for an existing academy. */
  readonly isMissing: boolean
  write(key: string): Promise<void>
}

/** Checks that the key can be written, before any other work. Throws as openTarget does. */
export async function openKeyFile(cwd: string, name: string): Promise<KeyFile> {
  const exists = await access(resolve(cwd, name)).then(
    () => true,
    () => false,
  )
  // An existing file holds a key that is still valid; it is replaced only by a new one.
  if (!exists) {
    const probe = await openTarget(cwd, name)
    await probe.discard()
  }
  return {
    isMissing: !exists,
    async write(key: string) {
      const target = await openTarget(cwd, name, { force: true, mode: 0o600 })
      await target.write(Buffer.from(`${key}\n`))
      await target.finish()
    },
  }
}
