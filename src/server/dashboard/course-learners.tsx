import type { Child } from 'hono/jsx'
import * as z from 'zod'
import { lineOf } from '../../codec/display-text.ts'
import { attentionKinds } from '../../contract/constants.ts'
import type { Course } from '../../contract/courses.ts'
import { type Group, groups } from '../../contract/groups.ts'
import type { LearnerRow } from '../../contract/learner-row.ts'
import { sorting } from '../../contract/lists.ts'
import { progressStatuses } from '../../contract/progress.ts'
import { type LearnerFilter, learnerSorts } from '../analytics/learner-pages.ts'
import { parseQuery } from '../http/schema-routes.ts'
import { ask, type SignedInRequest } from './call-api.ts'
import type { List, ListColumn } from './list.tsx'
import { type FilterField, filterForm } from './list-parameters.tsx'
import { completionBar } from './standing.tsx'
import { Day, formatPercent, recordUrl, statusWords } from './values.tsx'

/** The names link to the learners' pages, or those below them at `page`. */
export function learnerList(
  title: string,
  caption: string,
  columns: readonly ListColumn<LearnerRow>[],
  page = '',
): List<LearnerRow> {
  const name: ListColumn<LearnerRow> = {
    name: 'Learner',
    sort: 'name',
    cell: (row, signedIn) => (
      <>
        <a href={recordUrl(signedIn, 'learners', row.learnerId) + page}>{nameOf(row)}</a>
        {nameOf(row) === row.email ? null : <small>{row.email}</small>}
      </>
    ),
  }
  return { id: 'learners', title, caption, sort: 'name', columns: [name, ...columns] }
}

function nameOf({ firstName, lastName, email }: LearnerRow): string {
  return [firstName, lastName].filter(Boolean).join(' ').trim() || email
}

export const gradeColumn: ListColumn<LearnerRow> = {
  name: 'Grade',
  look: 'figures',
  sort: 'grade',
  cell: ({ gradePercent, passed }) => (
    <>
      {formatPercent(gradePercent)}
      {passed === null ? null : <small>{passed ? 'Passed' : 'Not passed'}</small>}
    </>
  ),
}

export function standingColumns(isGraded: boolean): readonly ListColumn<LearnerRow>[] {
  return [
    { name: 'Status', sort: 'status', cell: statusOf },
    {
      name: 'Completion',
      look: 'drawn',
      sort: 'completion',
      cell: ({ completionPercentage, progressStatus }) => completionBar(completionPercentage, progressStatus),
    },
    {
      name: 'Last accessed',
      sort: 'last_accessed',
      cell: ({ lastAccessed }) => <Day time={lastAccessed} />,
    },
    ...(isGraded ? [gradeColumn] : []),
  ]
}

export function courseColumns(
  rows: readonly LearnerRow[],
  link: (row: LearnerRow) => Child = ({ courseTitle }) => courseTitle,
): readonly ListColumn<LearnerRow>[] {
  const titles = Map.groupBy(rows, ({ courseTitle }) => courseTitle)
  const name: ListColumn<LearnerRow> = {
    name: 'Course',
    cell: (row) => {
      const hasUniqueTitle = titles.get(row.courseTitle)?.length === 1
      const id = row.courseExternalId ?? (hasUniqueTitle ? null : row.courseId)
      return (
        <>
          {link(row)}
          {id === null ? null : <small>{lineOf(id, 64)}</small>}
        </>
      )
    },
  }
  const isGraded = rows.some(({ gradePercent }) => gradePercent !== null)
  return [name, ...standingColumns(isGraded).map(({ sort: _, ...column }) => column)]
}

function statusOf({ progressStatus, enrollmentStatus, gradePercent }: LearnerRow): Child {
  // A graded learner has started, although no progress is recorded.
  const isGradedOnly = progressStatus === 'not_started' && gradePercent !== null
  const odd = enrollmentStatus === 'inactive' || enrollmentStatus === 'deleted'
  return (
    <>
      <span class="word">{isGradedOnly ? 'No progress recorded' : statusWords[progressStatus]}</span>
      {odd ? <small>Enrolment {enrollmentStatus}</small> : null}
    </>
  )
}

export async function learnerSearch(
  signedIn: SignedInRequest,
  course: Course,
  query: LearnerQuery,
): Promise<Child> {
  const groups = await groupsFor(signedIn, course, query)
  const fields: FilterField[] = [
    { name: 'q', label: 'Name, username, e-mail address or external ID', type: 'search' },
    ...(groups.length > 0 ? [groupField(groups)] : []),
  ]
  return filterForm(signedIn, 'Filter learners', fields, 'learners')
}

const LearnerQuery = z.strictObject({
  status: z.enum(progressStatuses).optional(),
  attention: z.enum(attentionKinds).optional(),
  q: z.string().trim().max(200).optional(),
  /** Id of a group; empty for all learners. */
  group: z
    .string()
    .max(64)
    .transform((id) => id || undefined)
    .optional(),
  sort: sorting(learnerSorts, 'name'),
  cursor: z.string().optional(),
})

export type LearnerQuery = z.output<typeof LearnerQuery>

/** Throws 400 for an unknown filter or order. */
export function learnerQueryOf({ query }: SignedInRequest): LearnerQuery {
  const known = [...query].filter(([name]) => Object.hasOwn(LearnerQuery.shape, name))
  return parseQuery(LearnerQuery, `${new URLSearchParams(known)}`)
}

export function filterOf(
  courseId: string,
  { status, attention, q, group, sort }: LearnerQuery,
): LearnerFilter {
  return { courseId, status, attention, search: q || undefined, groupId: group, sort }
}

/** Throws 404 for a group that the user may not see. */
export async function requireGroup(signedIn: SignedInRequest, { group }: LearnerQuery): Promise<void> {
  if (group !== undefined) await groupOf(signedIn, group)
}

const maxGroups = 100
/** Maximum pages of groups to look for those of no course. */
const maxPages = 10

/** The course's own, then those of no course, and in any case the chosen one. */
async function groupsFor(
  signedIn: SignedInRequest,
  { id }: Course,
  { group }: LearnerQuery,
): Promise<readonly Group[]> {
  const list = (query: Readonly<Record<string, string>>) =>
    ask(signedIn, groups.list, { query: { limit: String(maxGroups), sort: 'name', ...query } })
  const found: Group[] = [...(await list({ course_id: id })).data]
  const most = found.length + maxGroups
  let query = {}
  for (let page = 0; page < maxPages && found.length < most; page += 1) {
    const { data, nextCursor } = await list(query)
    found.push(...data.filter(({ courseId }) => courseId === null))
    if (nextCursor === null) break
    query = { cursor: nextCursor }
  }
  if (group === undefined || found.some((each) => each.id === group)) return found
  return [await groupOf(signedIn, group), ...found]
}

function groupOf(signedIn: SignedInRequest, groupId: string): Promise<Group> {
  return ask(signedIn, groups.get, { params: { groupId } })
}

/** Undefined in an academy without groups. */
export async function groupFilter(signedIn: SignedInRequest, all: string): Promise<FilterField | undefined> {
  const { data } = await ask(signedIn, groups.list, { query: { sort: 'name', limit: String(maxGroups) } })
  return data.length === 0 && !signedIn.query.get('group') ? undefined : groupField(data, all)
}

function groupField(data: readonly Group[], all = 'All learners'): FilterField {
  return { name: 'group', label: 'Group', choices: data.map(({ id, name }) => [id, name]), all }
}
