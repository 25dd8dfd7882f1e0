import type { Course } from '../../contract/courses.ts'
import { type Group, groups } from '../../contract/groups.ts'
import { ask, type SignedInRequest } from './call-api.ts'
import type { FilterField } from './filter-form.tsx'
import type { LearnerQuery } from './learner-query.ts'

/** Throws 404 for a group that the user may not see. */
export async function requireGroup(signedIn: SignedInRequest, { group }: LearnerQuery): Promise<void> {
  if (group !== undefined) await groupOf(signedIn, group)
}

const maxGroups = 100
/** Maximum pages of groups to look for those of no course. */
const maxPages = 10

/** The course's own, then those of no course, and in any case the chosen one. */
export async function groupsFor(
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

export function groupField(data: readonly Group[], all = 'All learners'): FilterField {
  return { name: 'group', label: 'Group', choices: data.map(({ id, name }) => [id, name]), all }
}
