import { nounOf } from '../../client/foreign/names.ts'
import { idOf } from '../../client/foreign/record.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Context } from '../command/context.ts'
import { addSeen, maximumThings, type SeenThing, thingOf } from '../session/seen-things.ts'

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
  const things: SeenThing[] = []
  return {
    async *watch(pages) {
      for await (const page of pages) {
        for (const item of page.slice(0, maximumThings - things.length)) {
          const thing = thingOf(item, idOf(item, nounOf(operation), operation.identifier))
          if (thing) things.push(thing)
        }
        yield page
      }
    },
    keep: () => addSeen({ state: directories.state, target: target.url, noun }, things, io.now()),
  }
}
