import type { Caller } from '../../client/caller.ts'
import { ApiError } from '../../client/errors.ts'
import { isJsonObject, type JsonObject } from '../../codec/json-object.ts'
import { joinReferences, splitReferences } from '../../codec/reference.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { recordPages } from '../dataset/shown-records.ts'
import { type Finder, oneByOne } from './finder.ts'

/** Maximum number of users in one request; keeps its URL below the usual limit of servers (8 KiB). */
const usersAtOnce = 40
const charactersAtOnce = 3000
const pageSize = 100
/** Maximum number of pages to read per request; a user has few records of one kind in a course. */
const mostPages = 10

/** Lookup of several users: everything but the user is the same. */
interface Question {
  readonly query: Readonly<Record<string, string>>
  readonly users: Set<string>
}

/**
 * Returns a finder that looks up the records of several users of a course in one request, such as enrolments, if the
 * platform's list takes several users. Records that such a list cannot answer for are looked up one by one.
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
  /** Records found, by lookup and user; an absent lookup was not answered. */
  let answers = new Map<string, Map<string, JsonObject[]>>()

  async function ask(name: string, { query, users }: Question): Promise<void> {
    const asked = { ...query, [parameter]: joinReferences([...users]), limit: String(pageSize) }
    const found = new Map<string, JsonObject[]>([...users].map((user) => [plain(user), []]))
    let left = mostPages
    try {
      const { list } = dataset.operations
      const pages = caller.pages<Operation>(list, { query: asked, signal })
      for await (const { data } of recordPages(caller, list, pages)) {
        for (const shown of data.filter(isJsonObject)) {
          const lists = namesIn(shown, field).flatMap((user) => {
            const list = found.get(user)
            return list ? [list] : []
          })
          // The record does not show its user by the field that was requested.
          if (lists.length === 0) return
          for (const list of lists) list.push(shown)
        }
        left -= 1
        if (left === 0) return
      }
      answers.set(name, new Map([...(answers.get(name) ?? []), ...found]))
    } catch (error) {
      // Some user is unknown or malformed; looking up each alone shows which.
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

/** Returns the lookup for a record and its user; null if the record has no key or names the user in another form. */
function questionOf(dataset: Dataset, record: JsonObject, parameter: string) {
  const { [parameter]: user, ...query } = dataset.find(record)?.query ?? {}
  const [name] = splitReferences(user ?? '')
  return name === undefined || name === '' ? null : { name: JSON.stringify(query), query, user: name }
}

/** Returns the names that a file may use for the user of a record. */
function namesIn(shown: JsonObject, field: string): readonly string[] {
  const { [field]: id, userExternalId: externalId, userEmail: email } = shown
  return [
    String(id),
    ...(typeof externalId === 'string' ? [`ext:${externalId}`] : []),
    ...(typeof email === 'string' ? [`email:${email}`] : []),
  ].map(plain)
}

/** E-mail addresses are compared without case. */
function plain(name: string): string {
  return name.startsWith('email:') ? name.toLowerCase() : name
}
