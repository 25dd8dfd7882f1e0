import fc from 'fast-check'
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import type { Row } from '../../../src/server/database/database.ts'
import { page, type Select } from '../../../src/server/database/page.ts'
import { onPostgres, test } from '../../helpers/academy.ts'
import { randomRuns } from '../../helpers/random.ts'

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

test('the pages of a list are full and hold each of its rows once, in order, however few of a table these are', async ({
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
      where: [sql`t.at <> 3`],
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
      const answer = await page<Thing, Thing>(database, select, orderOf(sort), query, (row) => row, 5)
      listed.push(...answer.data)
      expect(answer).toMatchObject({ total: wanted.length, totalIsExact: true })
      if (answer.nextCursor === null) break
      expect(answer.data).toHaveLength(limit)
      cursor = answer.nextCursor
    }
    expect(listed.map(({ id }) => id)).toEqual(wanted.map(({ id }) => id))
  })
  // Each row would be a round trip to PostgreSQL.
  await fc.assert(property, { numRuns: onPostgres ? 10 : randomRuns(50, 150) })
})
