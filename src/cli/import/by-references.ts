import type { Caller } from '../../client/caller.ts'
import { ApiError } from '../../client/errors.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import { joinReferences, splitReferences } from '../../codec/reference.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { recordPages } from '../dataset/shown-records.ts'
import { type Finder, oneByOne } from './finder.ts'

/** So many users are named in one request, whose URL stays below what servers take (8 KiB). */
const usersAtOnce = 40
const charactersAtOnce = 3000
const pageSize = 100
/** A user has few records of one kind in a course. */
const mostPages = 10

/** What is asked for at once: everything but the user is the same. */
interface Question {
  readonly query: Readonly<Record<string, string>>
  readonly users: Set<string>
}

/**
 * Asks for the records of several users of a course at once, such as enrolments, where the platform's list takes several
 * users. What such a list cannot tell is asked for one by one.
 *
 * @param parameter of the list, for the user
 * @param field of a record, in which its user stands
 */
export function byReferences(
  caller: Caller,
  dataset: Dataset,
  signal: AbortSignal,
  { parameter, field }: { readonly parameter: string; readonly field: string },
): Finder {
  const single = oneByOne(caller, dataset, signal)
  /** What was found, by question and user; a question that is absent was not answered. */
  let answers = new Map<string, Map<string, JsonObject[]>>()

  async function ask(name: string, { query, users }: Question): Promise<void> {
    const asked = { ...query, [parameter]: joinReferences([...users]), limit: String(pageSize) }
    const found = new Map<string, JsonObject[]>([...users].map((user) => [plain(user), []]))
    let left = mostPages
    try {
      const { list } = dataset.operations
      const pages = caller.pages<Operation>(list, { query: asked, handling: 'strict', signal })
      for await (const { data } of recordPages(caller, list, pages)) {
        for (const shown of data.filter(isJsonObject)) {
          const lists = namesIn(shown, field).flatMap((user) => {
            const list = found.get(user)
            return list ? [list] : []
          })
          // It does not say whose it is in the way that was asked.
          if (lists.length === 0) return
          for (const list of lists) list.push(shown)
        }
        left -= 1
        if (left === 0) return
      }
      answers.set(name, new Map([...(answers.get(name) ?? []), ...found]))
    } catch (error) {
      // One of the names is of nobody, or not understood: which one shows when each is asked for.
      if (!(error instanceof ApiError) || ![400, 404, 422].includes(error.status)) throw error
    }
  }

  return {
    async prepare(records) {
      answers = new Map()
      const open = new Map<string, Question>()
      for (const record of records) {
        const of = questionOf(dataset, record, parameter)
        if (of === null) continue
        const question = open.get(of.name) ?? { query: of.query, users: new Set() }
        question.users.add(of.user)
        open.set(of.name, question)
        const characters = [...question.users].reduce((sum, user) => sum + user.length, 0)
        if (question.users.size < usersAtOnce && characters < charactersAtOnce) continue
        await ask(of.name, question)
        open.delete(of.name)
      }
      for (const [name, question] of open) if (question.users.size > 1) await ask(name, question)
    },
    async find(record) {
      const of = questionOf(dataset, record, parameter)
      const found = of === null ? undefined : answers.get(of.name)?.get(plain(of.user))
      if (!found) return single.find(record)
      const search = dataset.find(record)
      return { shown: found.find((shown) => search?.matches(shown)) ?? null, other: null }
    },
  }
}

/** What is asked for a record, and whom it is about; null where it has no key, or names the user in a way of its own. */
function questionOf(dataset: Dataset, record: JsonObject, parameter: string) {
  const { [parameter]: user, ...query } = dataset.find(record)?.query ?? {}
  const [name] = splitReferences(user ?? '')
  return name === undefined || name === '' ? null : { name: JSON.stringify(query), query, user: name }
}

/** The names by which files may call the user of a record. */
function namesIn(shown: JsonObject, field: string): readonly string[] {
  const { [field]: id, userExternalId: externalId, userEmail: email } = shown
  return [
    String(id),
    ...(typeof externalId === 'string' ? [`ext:${externalId}`] : []),
    ...(typeof email === 'string' ? [`email:${email}`] : []),
  ].map(plain)
}

/** Addresses are the same in any case. */
function plain(name: string): string {
  return name.startsWith('email:') ? name.toLowerCase() : name
}
