import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import { addToCompletionCache, type CachedThing, maxThings, thingOf } from '../session/completion-cache.ts'

/** Collects printed items of a list for completion. */
export interface SeenList {
  watch(pages: AsyncIterable<readonly unknown[]>): AsyncGenerator<readonly unknown[]>
  /** Saves the collected items. */
  keep(): void
}

const nouns = ['courses', 'lessons', 'users', 'enrollments', 'grades', 'keys', 'apps', 'grants']

/** Returns a collector for lists that completion uses; null for others. */
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
