import { createRequire, enableCompileCache } from 'node:module'
import { homedir, tmpdir, userInfo } from 'node:os'
import { join, resolve, sep } from 'node:path'
import { getAsset, getRawAsset } from 'node:sea'
import { directoriesOf } from '../src/config/directories.ts'
import { CannotUnpackError, type Contents, unpack } from './unpack.ts'

// Start of the executable, which Node's single executables run instead of a script: CommonJS, without files of its own
// (https://nodejs.org/docs/latest-v24.x/api/single-executable-applications.html).

/** The folder of the user's caches, else one for temporary files. */
function places(): string[] {
  const { env, platform } = process
  const { cache } = directoriesOf({ env, platform, home: homedir(), cwd: process.cwd() })
  return [cache, join(tmpdir(), `learnctl-${process.geteuid?.() ?? userInfo().username}`)]
}

/**
 * Returns the file that the program runs in a process of its own by `fork`, which passes it as the first word; the
 * words of a user never come with a channel.
 */
function forkedFile(folder: string): string | undefined {
  const [, , first] = process.argv
  if (process.channel === undefined || process.channel === null || first === undefined) return undefined
  const path = resolve(first)
  return path.startsWith(folder + sep) ? path : undefined
}

function launch(): void {
  const contents = JSON.parse(getAsset('contents.json', 'utf8')) as Contents
  const folder = unpack({ ...contents, archive: () => new Uint8Array(getRawAsset('archive')) }, places())
  enableCompileCache(join(folder, 'compile-cache'))
  const require = createRequire(join(folder, 'main.cjs'))
  const forked = forkedFile(folder)
  if (forked === undefined) {
    require('./main.cjs').start()
    return
  }
  process.argv.splice(1, 2, forked)
  require(forked)
}

try {
  launch()
} catch (error) {
  const { message } = error instanceof Error ? error : new Error(String(error))
  const isFull = error instanceof CannotUnpackError
  process.stderr.write(
    isFull
      ? `error: Cannot unpack learnctl\n  ${message.replaceAll('; ', '\n  ')}\n  hint: Set XDG_CACHE_HOME to a directory of your own that is writable\n`
      : `error: Cannot load learnctl: ${message.split('\n')[0]}\n`,
  )
  process.exitCode = 1
}
