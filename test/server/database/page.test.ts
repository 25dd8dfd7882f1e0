import fc from 'fast-check'
import sql, { type Sql } from 'sql-template-tag'
import { expect } from 'vitest'
import type { Row } from '../../../src/server/database/database.ts'
import { type Bounds, page, type Select } from '../../../src/server/database/page.ts'
import { onPostgres, test } from '../../helpers/academy.ts'
import { watchDatabase } from '../../helpers/plans/watched-database.ts'
import { randomRuns } from '../../helpers/random.ts'

/** Limits that make a table of a few dozen rows look large. */
const bounds: Bounds = {
  rounds: [
    { maxSorted: 2, maxFetched: 1, maxWalked: 3 },
    { maxSorted: 4, maxFetched: 3, maxWalked: 5 },
    { maxSorted: 6, maxFetched: 3, maxWalked: 10 },
  ],
  maxFetchedLast: 12,
  maxTotal: 6,
  maxCounted: 15,
}

interface Thing extends Row {
  readonly id: string
  readonly at: number
  readonly kind: number
  readonly tag: number
}

const thing = fc.record({ at: fc.nat(5), kind: fc.nat(3), tag: fc.nat(2) })
const question = fc.record({
  kind: fc.option(fc.nat(3), { nil: undefined }),
  tag: fc.option(fc.nat(2), { nil: undefined }),
  since: fc.option(fc.nat(5), { nil: undefined }),
  sort: fc.constantFrom('at', '-at', 'kind', '-kind'),
  limit: fc.integer({ min: 1, max: 7 }),
})

const orderOf = (sort: string) => ({
  sort,
  expressions: { at: sql`t.at`, kind: sql`t.kind` },
  id: sql`t.id`,
})

test('the pages of a list hold each of its rows once, in order, however few of a table these are', async ({
  academy: { database },
}) => {
  await database.run(sql`create table things (id text primary key, at integer, kind integer, tag integer)`)
  const property = fc.asyncProperty(fc.array(thing, { maxLength: 60 }), question, async (things, asked) => {
    const rows = things.map((one, index): Thing => ({ id: `t${String(index).padStart(2, '0')}`, ...one }))
    await database.run(sql`delete from things`)
    for (const { id, at, kind, tag } of rows) {
      await database.run(sql`insert into things values (${id}, ${at}, ${kind}, ${tag})`)
    }
    const { kind, tag, since, sort, limit } = asked
    const select: Select = {
      columns: sql`t.id, t.at, t.kind, t.tag`,
      from: sql`things t`,
      mostly: [sql`t.at <> 3`],
      narrow: [
        kind !== undefined && sql`t.kind = ${kind}`,
        tag !== undefined && {
          ids: sql`select id from things where tag = ${tag}`,
          test: sql`t.tag = ${tag}`,
        },
      ],
      within: [{ field: 'at', condition: since !== undefined && sql`t.at >= ${since}` }],
    }
    const field = sort.replace('-', '') as 'at' | 'kind'
    const sign = sort.startsWith('-') ? -1 : 1
    const wanted = rows
      .filter((one) => one.at !== 3 && one.at >= (since ?? 0))
      .filter((one) => one.kind === (kind ?? one.kind) && one.tag === (tag ?? one.tag))
      .sort((one, other) => sign * (one[field] - other[field] || (one.id < other.id ? -1 : 1)))
    const listed: Thing[] = []
    let cursor: string | undefined
    for (let pages = 0; pages <= rows.length; pages += 1) {
      const query = { limit, cursor, include_total: true }
      const answer = await page<Thing, Thing>(database, select, orderOf(sort), query, (row) => row, bounds)
      expect(answer.data.length).toBeLessThanOrEqual(limit)
      listed.push(...answer.data)
      if (answer.totalIsExact) expect(answer.total).toBe(wanted.length)
      else expect(answer.total).toBeLessThanOrEqual(wanted.length)
      if (answer.nextCursor === null) break
      cursor = answer.nextCursor
    }
    expect(listed.map(({ id }) => id)).toEqual(wanted.map(({ id }) => id))
  })
  // Each row would be a round trip to PostgreSQL.
  await fc.assert(property, { numRuns: onPostgres ? 10 : randomRuns(50, 150) })
})

test('a page ends where it has looked at enough rows, and the next one goes on', async ({
  academy: { database },
}) => {
  await database.run(sql`create table things (id text primary key, at integer, kind integer)`)
  for (let at = 0; at < 40; at += 1) {
    await database.run(sql`insert into things values (${`t${at}`}, ${at}, ${at < 7 || at > 32 ? 1 : 0})`)
  }
  const select = { columns: sql`t.id`, from: sql`things t`, narrow: [sql`t.kind = 1`] }
  const lengths: number[] = []
  let next: string | null = ''
  while (next !== null) {
    const query = { limit: 5, cursor: next || undefined, include_total: true }
    const answer: { data: string[]; nextCursor: string | null; total?: number; totalIsExact?: boolean } =
      await page(database, select, orderOf('at'), query, (row) => String(row['id']), bounds)
    expect(answer).toMatchObject({ total: 6, totalIsExact: false })
    lengths.push(answer.data.length)
    next = answer.nextCursor
  }
  expect(lengths).toEqual([5, 2, 0, 2, 5])
})

test('a page is looked for a little everywhere first: few rows and nearly all of them are found at once', async ({
  academy: { database },
}) => {
  await database.run(sql`create table things (id text primary key, at integer, kind text)`)
  for (let at = 0; at < 40; at += 1) {
    const kind = at === 39 ? 'few' : at % 8 === 7 ? 'some' : 'most'
    await database.run(sql`insert into things values (${`t${at}`}, ${at}, ${kind})`)
  }
  const statementsFor = async (kind: string) => {
    const counted: string[] = []
    const walked: string[] = []
    const seen = ({ sql: statement }: Sql) => {
      if (statement.includes('count(*)')) counted.push(statement)
      if (statement.includes('offset')) walked.push(statement)
    }
    const watching = watchDatabase(database, { seen })
    const select = { columns: sql`t.id`, from: sql`things t`, narrow: [sql`t.kind = ${kind}`] }
    const query = { limit: 2, include_total: false }
    const { data } = await page(watching, select, orderOf('at'), query, (row) => String(row['id']), bounds)
    return { data, counted: counted.length, walked: walked.length }
  }
  expect(await statementsFor('few')).toEqual({ data: ['t39'], counted: 1, walked: 0 })
  expect(await statementsFor('most')).toEqual({ data: ['t0', 't1'], counted: 1, walked: 1 })
  expect(await statementsFor('some')).toEqual({ data: ['t7', 't15'], counted: 2, walked: 1 })
})

test.skipIf(onPostgres)(
  'a page looks at no row beyond the place where it ends, whatever period it is of',
  async ({ academy: { database } }) => {
    await database.run(sql`create table things (id text primary key, at integer, kind integer) without rowid`)
    await database.run(sql`create index things_by_at on things (at, id, kind)`)
    for (let at = 10; at < 50; at += 1) {
      await database.run(sql`insert into things values (${`t${at}`}, ${at}, ${at % 2})`)
    }
    const walksOf = async (order: Parameters<typeof page>[2], within: Sql) => {
      const walks: Sql[] = []
      const seen = (statement: Sql) => {
        if (statement.sql.includes('case when')) walks.push(statement)
      }
      const select = {
        columns: sql`t.id`,
        from: sql`things t`,
        within: [{ field: 'at', condition: within }],
        where: [sql`t.kind = 7`],
      }
      const query = { limit: 2, include_total: false }
      await page(watchDatabase(database, { seen }), select, order, query, (row) => row, bounds)
      return walks
    }
    // Conditions by which SQLite searches the index: the first lower and the first upper bound of the statement.
    const plans = []
    for (const walk of await walksOf(orderOf('-at'), sql`t.at >= 0`)) {
      plans.push(...(await database.all<{ detail: string }>(sql`explain query plan ${walk}`)))
    }
    expect(plans.map(({ detail }) => detail)).toEqual([
      expect.stringContaining('things_by_at ((at,id)>(?,?))'),
      expect.stringContaining('things_by_at ((at,id)>(?,?) AND (at,id)<(?,?))'),
      expect.stringContaining('things_by_at ((at,id)>(?,?) AND (at,id)<(?,?))'),
    ])
    const byId = { sort: '-at', expressions: { at: sql`t.id` }, id: sql`t.id` }
    const [first, second] = await walksOf(byId, sql`t.id > ''`)
    expect(first?.sql).toContain("where t.id >= ? and t.id > '' and case")
    expect(second?.sql).toContain("where t.id < ? and t.id >= ? and t.id > '' and case")
  },
)
