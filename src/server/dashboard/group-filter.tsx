import type { Course } from '../../contract/courses.ts'
import { type Group, groups } from '../../contract/groups.ts'
import { groupRoutes } from '../groups/groups.ts'
import { ask, type SignedInRequest } from './call-api.ts'
import type { LearnerQuery } from './learner-query.ts'

/** Throws 404 if the query is about a group that the user may not see. */
export async function requireGroup(signedIn: SignedInRequest, { group }: LearnerQuery): Promise<void> {
  if (group !== undefined) await ask(signedIn, groupRoutes, groups.get, { params: { groupId: group } })
}

/** Returns the groups to filter the learners of a course by: the course's own, then those of no course. */
export async function groupsFor(signedIn: SignedInRequest, { id }: Course): Promise<readonly Group[]> {
  const list = (query: Readonly<Record<string, string>>) =>
    ask(signedIn, groupRoutes, groups.list, { query: { limit: '100', sort: 'name', ...query } })
  const [own, all] = [await list({ course_id: id }), await list({})]
  return [...own.data, ...all.data.filter(({ courseId }) => courseId === null)]
}

/** A choice of groups in the form that searches learners; nothing without groups. */
export function GroupChoice({ groups, chosen }: { groups: readonly Group[]; chosen: string | undefined }) {
  if (groups.length === 0) return null
  return (
    <>
      <label for="group">Group</label>
      <select id="group" name="group">
        <option value="">All learners</option>
        {groups.map(({ id, name }) => (
          <option value={id} selected={id === chosen}>
            {name}
          </option>
        ))}
      </select>
    </>
  )
}
