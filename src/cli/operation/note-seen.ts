import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import { addToCompletionCache, type CachedThing, maxThings, thingOf } from '../session/completion-cache.ts'

/** Sees what a list of a platform prints, for completion to offer it. */
export interface SeenList {
  watch(pages: AsyncIterable<readonly unknown[]>): AsyncGenerator<readonly unknown[]>
  /** Keeps what was seen. */
  keep(): void
}

const nouns = ['courses', 'lessons', 'users', 'enrollments', 'grades', 'keys', 'apps', 'grants']

/** Sees the things of a list that completion knows; null for any other. */
export function noteSeen({ session, directories, io }: Context, operation: Operation): SeenList | null {
  const [noun = '', verb] = operation.id.split('.')
  const target = session.target()
  if (verb !== 'list' || !nouns.includes(noun) || target.kind === 'local') return null
  const things: CachedThing[] = []
  return {
    async *watch(pages) {
      for await (const page of pages) {
        for (const item of page.slice(0, maxThings - things.length)) {
          const thing = thingOf(item, operation.identifier)
          if (thing) things.push(thing)
        }
        yield page
      }
    },
    keep: () =>
      addToCompletionCache({ state: directories.state, target: target.url, noun }, things, io.now()),
  }
}
