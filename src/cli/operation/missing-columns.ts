import { matchingPaths, valueAt } from '../output/columns.ts'

/** Watches for chosen columns that a platform does not send: they are empty, as if nothing had a value. */
export interface MissingColumns {
  /** The same pages. */
  watch(pages: AsyncIterable<readonly unknown[]>): AsyncGenerator<readonly unknown[]>
  /** The columns that no row had, as they were asked for; none where no row came. */
  names(): readonly string[]
}

/**
 * The watch of one list.
 *
 * @param declared the paths that the API has, of which a name may be the end
 */
export function missingColumns(names: readonly string[] | null, declared: readonly string[]): MissingColumns {
  const paths = new Map((names ?? []).map((name) => [name, matchingPaths(name, declared)[0] ?? name]))
  let rows = 0
  return {
    async *watch(pages) {
      for await (const page of pages) {
        rows += page.length
        for (const [name, path] of paths) {
          if (page.some((row) => valueAt(row, path) !== undefined)) paths.delete(name)
        }
        yield page
      }
    },
    names: () => (rows === 0 ? [] : [...paths.keys()]),
  }
}
