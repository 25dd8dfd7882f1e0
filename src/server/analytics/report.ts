import sql, { join, type Sql } from 'sql-template-tag'
import type { analytics, Report } from '../../contract/analytics.ts'
import type { ActivityUnit } from '../../contract/constants.ts'
import type { Query } from '../../contract/operation.ts'
import type { ItemGrades } from '../../contract/questions.ts'
import type { Asking } from '../access/sight.ts'
import { where } from '../database/page.ts'
import { periodsOf, readActivity } from './activity.ts'
import { readKeptFigures } from './figures.ts'
import { listItemGrades } from './item-grades.ts'
import { type RowFilter, rowFilterOf } from './row-filter.ts'
import { attentionByCourse, rowsOfFilter, summaryOf } from './summary.ts'

interface AskingForReport extends Asking {
  readonly query: Query<typeof analytics.report>
  readonly now: string
}

/**
 * Reads the figures of a report: completion, grades and learners at risk as they are now, and the activity of a period
 * with that of the period before. Throws 400 as `periodsOf` and 404 as `rowFilterOf` do.
 */
export async function readReport(call: AskingForReport): Promise<Report> {
  const { database, query, now } = call
  const { course_id, term_id, time_zone } = query
  const courses = { course_id, term_id }
  const filter = await rowFilterOf({ ...call, query: courses }, { start: null, end: null })
  const activity = await readActivity({
    ...call,
    query: {
      ...courses,
      time_zone,
      by: unitOf(query, now),
      start_date: query.start_date,
      end_date: query.end_date,
    },
  })
  const [start, end] = [activity.data[0]?.start ?? now, activity.data.at(-1)?.end ?? now]
  const startBefore = new Date(2 * Date.parse(start) - Date.parse(end)).toISOString()
  const activityBefore = await readActivity({
    ...call,
    query: { ...courses, time_zone, by: activity.by, start_date: startBefore, end_date: start },
  })
  const figures = await readKeptFigures(database, rowsOfFilter(filter), new Date(now))
  return {
    generatedAt: now,
    start,
    // The current week has not ended.
    end: query.end_date === undefined && end > now ? now : end,
    summary: await summaryOf(database, figures),
    attention: (await attentionByCourse(database, publishedIn(filter), figures)).map(
      ({ attention: { inactive, stuck, not_passed: notPassed }, ...course }) => {
        return { ...course, inactive, stuck, notPassed }
      },
    ),
    activity,
    activityBefore,
    ...(await readLowestItems(call)),
  }
}

const dayMs = 24 * 60 * 60 * 1000

/** In days: a chart has room for some 60 columns. */
const [maxByDay, maxByWeek] = [21, 60 * 7]

function unitOf({ start_date, end_date, time_zone }: AskingForReport['query'], now: string): ActivityUnit {
  // The usual length of a period is in weeks; the bounds that are given do not depend on the unit.
  const by = start_date === undefined ? 'week' : 'month'
  const periods = periodsOf({ by, start_date, end_date, time_zone }, Date.parse(now))
  const endMs = Math.min(
    Date.parse(periods.at(-1)?.end ?? now),
    end_date === undefined ? Date.parse(now) : Infinity,
  )
  const days = (endMs - Date.parse(periods[0]?.start ?? now)) / dayMs
  return days <= maxByDay ? 'day' : days <= maxByWeek ? 'week' : 'month'
}

function publishedIn({ courses, termIds }: RowFilter): Sql {
  const conditions = [
    sql`status = 'published'`,
    courses && sql`id in (${courses})`,
    termIds && sql`term_id in (${join(termIds)})`,
  ]
  return sql`select id from courses ${where(conditions)}`
}

const maxItems = 100
/** Pages to look at for the items with the lowest pass rates. */
const maxPages = 100

async function readLowestItems(call: AskingForReport): Promise<Pick<Report, 'items' | 'moreItems'>> {
  const { course_id, term_id } = call.query
  let lowest: ItemGrades[] = []
  let found = 0
  let cursor: string | undefined
  for (let page = 0; page < maxPages; page += 1) {
    const { data, nextCursor } = await listItemGrades({
      ...call,
      query: { course_id, term_id, limit: 1000, cursor },
    })
    found += data.length
    lowest = [...lowest, ...data].sort((one, other) => one.passRate - other.passRate).slice(0, maxItems)
    if (nextCursor === null) break
    cursor = nextCursor
  }
  return { items: lowest, moreItems: found - lowest.length }
}
