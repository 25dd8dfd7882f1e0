import { GroupInput, groups } from '../../contract/groups.ts'
import { courseFilter, filtersOf, flagsOf, groupFilter, userFilter } from './derive-flags.ts'

/** The flags of a group's fields. */
export const fields = flagsOf(GroupInput, { courseId: { name: 'course' } }, [
  'name',
  'externalId',
  'courseId',
])

/** The filters of lists of groups. */
export const filters = filtersOf(groups.list, {
  course_id: courseFilter,
  user_id: { ...userFilter('user'), summary: 'Filter by member: id, external id or e-mail address' },
  q: { name: 'search', summary: 'Search names' },
  external_id: { summary: 'Filter by your own id' },
  managed_by: { summary: 'Filter by managing system' },
})

/** The filters of lists of deleted groups. */
export const deletedFilters = filtersOf(
  groups.listDeleted,
  { course_id: { name: 'course', summary: 'Filter by course: id or external id' } },
  ['sort'],
)

/** The filters of the members of a group. */
export const memberFilters = filtersOf(groups.members, { user_id: userFilter('user') })

/** The filters of lists of memberships. */
export const membershipFilters = filtersOf(groups.memberships, {
  group_id: { ...groupFilter, summary: 'Filter by group: id, external id or name' },
  user_id: userFilter('user'),
})
