import { afterAll, expect, test } from 'vitest'
import { operations } from '../../../src/contract/index.ts'
import { fillIn, furnish } from '../../contract/examples.ts'
import { openTestAcademy } from '../../helpers/academy.ts'

const school = await openTestAcademy()
afterAll(() => school.close())
const admin = await school.person('admin')
const things = await furnish(school, admin)

/** Lists whose rows are made of several records, without a time of their own. */
const withoutTime = /^(analytics\.|users\.data$|grades\.report$)/
const lists = operations.filter(({ id, list }) => list && !withoutTime.test(id))

test.for(lists)('$id: since and until leave the items of a period', async ({ id, path, filters = {} }) => {
  const { since, until } = filters
  expect([since?.by, until?.by]).toEqual(['start', 'end'])
  const field = since?.by === 'start' ? since.field : ''
  expect(until).toMatchObject({ field })
  const needed = {
    ...(id === 'progress.history' && { course_id: things['courseId'] ?? '' }),
    ...(id === 'grants.list' && { user_id: things['learnerId'] ?? '' }),
  }
  const timesOf = async (period: Readonly<Record<string, string>>) => {
    const query = new URLSearchParams({ ...needed, ...period, limit: '100' })
    const { status, body, text } = await admin.get(`${fillIn(path, things)}?${query}`)
    expect(status, text).toBe(200)
    return body.data.map((item: Record<string, unknown>) => item[field])
  }
  const all: string[] = await timesOf({})
  expect(all.length).toBeGreaterThan(0)
  for (const time of new Set(all)) {
    const after = new Date(Date.parse(time) + 1).toISOString()
    expect(await timesOf({ since: time })).toEqual(all.filter((each) => each >= time))
    expect(await timesOf({ since: after })).toEqual(all.filter((each) => each > time))
    expect(await timesOf({ until: time })).toEqual(all.filter((each) => each < time))
    expect(await timesOf({ until: after })).toEqual(all.filter((each) => each <= time))
    expect(await timesOf({ since: time, until: after })).toEqual(all.filter((each) => each === time))
  }
})

const changing = lists.filter(({ filters }) => filters?.['updated_since'])

test.for(changing)('$id: updated_since leaves what was updated from then on', async ({ path }) => {
  const updatesFrom = async (query: string): Promise<string[]> => {
    const { status, body, text } = await admin.get(`${fillIn(path, things)}?limit=100${query}`)
    expect(status, text).toBe(200)
    return body.data.map(({ updatedAt }: { updatedAt: string }) => updatedAt)
  }
  const all = await updatesFrom('')
  expect(all.length).toBeGreaterThan(0)
  for (const time of new Set(all)) {
    const after = new Date(Date.parse(time) + 1).toISOString()
    expect(await updatesFrom(`&updated_since=${time}`)).toEqual(all.filter((each) => each >= time))
    expect(await updatesFrom(`&updated_since=${after}`)).toEqual(all.filter((each) => each > time))
  }
})
