import { escapeHidden } from '../../codec/display-text.ts'
import type { Operation } from '../../contract/operation.ts'
import { valueAt } from '../../tables/column.ts'
import { capitalise } from '../terminal/format-text.ts'
import type { Choice } from '../terminal/prompts.ts'
import type { Context } from './context.ts'
import { readable } from './lookup.ts'

type PickedNoun = 'courses' | 'lessons' | 'groups' | 'users'

/** By names of arguments and fields that refer to such a record. */
export const pickedNouns: Readonly<Record<string, PickedNoun>> = {
  course: 'courses',
  lesson: 'lessons',
  group: 'groups',
  user: 'users',
  learner: 'users',
}

const parameters = { courses: 'courseId', lessons: 'lessonId', groups: 'groupId', users: 'userId' } as const

async function readsOf(noun: PickedNoun): Promise<{ readonly list: Operation; readonly get: Operation }> {
  return (await import('../../contract/calls.ts')).calls[noun]
}

export async function requireThing({ session, io }: Context, name: string, reference: string): Promise<void> {
  const noun = pickedNouns[name]
  if (noun === undefined) return
  const caller = await session.caller()
  const input = { params: { [parameters[noun]]: reference }, signal: io.signal }
  await readable(async () => caller.call((await readsOf(noun)).get, input))
}

const maxOffered = 20
const typingMs = 150

const naming = [
  'title',
  'name',
  'profile.displayName',
  'profile.firstName',
  'profile.lastName',
  'email',
  'externalId',
]

/** Narrows titles, names and addresses while the user types. A complete id, external id or address is offered, too. */
export async function pickThing(context: Context, name: string): Promise<string> {
  const noun = pickedNouns[name] ?? 'courses'
  const { session, io, prompts } = context
  const [caller, operations] = await Promise.all([session.caller(), readsOf(noun)])
  const isRemote = session.target().kind === 'remote'

  async function listed(term: string | undefined, signal: AbortSignal): Promise<readonly unknown[]> {
    // The API does not search lessons, and other platforms may ignore a search, so results are filtered here as well.
    const query = noun === 'lessons' || term === undefined ? {} : { q: term }
    const { data } = await caller.call(operations.list, { query: { ...query, limit: 100 }, signal })
    const items = valueAt(data, 'data')
    return Array.isArray(items) ? items.filter((item) => matches(item, term ?? '')) : []
  }

  async function named(term: string | undefined, signal: AbortSignal): Promise<readonly unknown[]> {
    if (term === undefined) return []
    const { data } = await caller.call(operations.get, { params: { [parameters[noun]]: term }, signal })
    return [data]
  }

  return prompts.pick(`${capitalise(name)} (type to search)`, async (term, stopped) => {
    const signal = AbortSignal.any([io.signal, stopped])
    if (isRemote && term !== undefined) await io.sleep(typingMs, signal)
    const found = await Promise.all([
      readable(() => named(term, signal), [404]),
      readable(() => listed(term, signal), [404]),
    ])
    const choices = new Map<string, Choice>()
    for (const item of found.flatMap((items) => items ?? [])) {
      const id = String(valueAt(item, operations.list.identifier ?? 'id') ?? '')
      if (id !== '') choices.set(id, { value: id, name: escapeHidden(labelOf(item, id)) })
    }
    // If no list can be read, offer the typed text.
    if (found.every((items) => items === undefined) && term !== undefined)
      return [{ value: term, name: term }]
    return [...choices.values()].slice(0, maxOffered)
  })
}

function textsOf(item: unknown): string[] {
  return naming
    .map((field) => valueAt(item, field))
    .flatMap((value) => (typeof value === 'string' && value !== '' ? [value] : []))
}

function matches(item: unknown, term: string): boolean {
  return textsOf(item).join(' ').toLowerCase().includes(term.trim().toLowerCase())
}

function labelOf(item: unknown, id: string): string {
  const texts = textsOf(item)
  const [first, ...others] = texts.length === 0 ? [id] : texts
  return others.length === 0
    ? String(first)
    : `${[first, ...others.slice(0, -1)].join(' ')} (${others.at(-1)})`
}
