import sql from 'sql-template-tag'
import { calls } from '../../contract/calls.ts'
import { Term, TermInput, terms } from '../../contract/terms.ts'
import { recordChange, recordUpdate } from '../changes/change.ts'
import type { Database, Row } from '../database/database.ts'
import { during, page } from '../database/page.ts'
import { recordReader } from '../database/record.ts'
import { matchesReference, requireUnique } from '../database/reference.ts'
import { sortKey } from '../database/search.ts'
import { externalIdOfItem, readBatch, runBatch, upsert } from '../http/batch.ts'
import { type Call, requireVersion } from '../http/handler.ts'
import { changedFields } from '../http/request-body.ts'
import { resourceOf, routesOf } from '../http/schema-routes.ts'
import { notFound, ProblemError } from '../problem-error.ts'

const order = {
  createdAt: sql`t.created_at`,
  updatedAt: sql`t.updated_at`,
  name: sql`t.name_key`,
  startDate: sql`t.start_date`,
}

export const termRoutes = routesOf(terms, {
  list({ query, database }) {
    return page(
      database,
      {
        columns: termColumns,
        from: sql`terms t`,
        by: [
          query.name && sql`t.name_key = ${sortKey(query.name)}`,
          query.external_id && sql`t.external_id = ${query.external_id}`,
          query.managed_by && sql`t.managed_by = ${query.managed_by}`,
        ],
        where: [query.name && sql`t.name = ${query.name}`],
        within: [
          { field: 'createdAt', condition: during(order.createdAt, query) },
          { field: 'updatedAt', condition: during(order.updatedAt, { since: query.updated_since }) },
        ],
      },
      { sort: query.sort, expressions: order, id: sql`t.id` },
      query,
      toTerm,
    )
  },

  get: ({ database, params }) => findTerm(database, params.termId),

  create: createTerm,

  batch(call) {
    const { items, onExists } = readBatch(call.rawBody, 'fail')
    return runBatch(call, items, async (item) =>
      upsert(
        onExists,
        await findExisting(item),
        () => createTerm(item),
        (id) => updateTerm(item, id),
      ),
    )
  },

  update: (call) => updateTerm(call, call.params.termId),

  async delete(call) {
    const term = await findTerm(call.database, call.params.termId)
    requireVersion(call, term.version)
    await requireNoCourses(call, term)
    await call.database.run(sql`delete from terms where id = ${term.id} and version = ${term.version}`)
    await recordChange(call, { action: 'term.deleted', id: term.id, before: term, after: null })
    return undefined
  },
})

async function createTerm(call: Call): Promise<Term> {
  const input = resourceOf(call, TermInput, Term)
  await requireUnique(call.database, 'terms', input, undefined)
  const { now } = call
  const id = call.newId('trm')
  const { externalId, name, startDate, endDate, managedBy } = input
  await call.database.run(sql`
    insert into terms (id, external_id, name, name_key, start_date, end_date, managed_by, version, created_at, updated_at)
    values (${id}, ${externalId}, ${name}, ${sortKey(name)}, ${startDate ?? ''}, ${endDate ?? ''}, ${managedBy}, 1,
            ${now}, ${now})`)
  const term = { id, ...input, version: 1, createdAt: now, updatedAt: now }
  await recordChange(call, { action: 'term.created', id, before: null, after: term })
  return term
}

/** Without changes, version and times stay. */
async function updateTerm(call: Call, reference: string): Promise<Term> {
  const current = await findTerm(call.database, reference)
  const input = resourceOf(call, TermInput, Term, current)
  requireVersion(call, current.version)
  const changed = changedFields(input, current)
  if (changed.length === 0) return current
  if (changed.includes('externalId')) await requireUnique(call.database, 'terms', input, current.id)
  await call.database.run(sql`
    update terms set
      external_id = ${input.externalId}, name = ${input.name}, name_key = ${sortKey(input.name)},
      start_date = ${input.startDate ?? ''}, end_date = ${input.endDate ?? ''}, managed_by = ${input.managedBy},
      version = version + 1, updated_at = ${call.now}
    where id = ${current.id} and version = ${current.version}`)
  const term = { ...current, ...input, version: current.version + 1, updatedAt: call.now }
  await recordUpdate(call, 'term', current, term)
  return term
}

/** Throws 409 `has_courses`. Courses do not lose their term with it: each would get a new version, without any bound. */
async function requireNoCourses({ database }: Call, { id, name }: Term): Promise<void> {
  const { count } = (await database.one<Row & { count: number }>(sql`
    select count(*) as count from (select 1 from courses where term_id = ${id} limit ${maxCountedCourses}) found`)) ?? {
    count: 0,
  }
  if (count === 0) return
  const many = count === maxCountedCourses ? `${count} or more` : count
  const courses = count === 1 ? '1 course' : `${many} courses`
  throw new ProblemError(
    'has_courses',
    `Term ${name} has ${courses}; move ${count === 1 ? 'it' : 'them'} to another term first.`,
  )
}

const maxCountedCourses = 100

/** From `terms t`. A date that is not set is stored as empty, so that rows can be sorted by it. */
const termColumns = sql`t.id, t.external_id, t.name, nullif(t.start_date, '') as start_date,
  nullif(t.end_date, '') as end_date, t.managed_by, t.version, t.created_at, t.updated_at`
const toTerm = recordReader<Term>(calls.terms.get)

async function findTerm(database: Database, reference: string): Promise<Term> {
  const row = await database.one(
    sql`select ${termColumns} from terms t where ${matchesReference('terms', reference)}`,
  )
  if (!row) throw notFound('term', reference)
  return toTerm(row)
}

/** By its external id; names are not unique. */
async function findExisting(item: Call): Promise<{ id: string; version: number } | undefined> {
  const externalId = externalIdOfItem(item)
  if (externalId === undefined) return undefined
  return item.database.one<Row & { id: string; version: number }>(
    sql`select id, version from terms where external_id = ${externalId}`,
  )
}
