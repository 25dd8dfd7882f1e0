import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './process.ts'

const source = join(root, 'src')
const file = join(root, 'dist/cli/chunks/reader-thread.cjs')
let isBuilt: boolean | undefined

/** The built thread of exports, which loads in a fifth of the time; undefined where src has changed since the build. */
export function builtThread(): URL | undefined {
  isBuilt ??= existsSync(file) && newestIn(source) <= statSync(file).mtimeMs
  return isBuilt ? pathToFileURL(file) : undefined
}

/** Time of the last change in a folder, in milliseconds since 1970. */
function newestIn(folder: string): number {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return Math.max(...paths.map((path) => statSync(join(folder, path)).mtimeMs))
}
