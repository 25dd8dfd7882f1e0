import { GroupInput, groups } from '../../contract/groups.ts'
import { courseFilter, filtersOf, flagsOf, groupFilter, userFilter } from './derive-flags.ts'

export const fields = flagsOf(GroupInput, { courseId: { name: 'course' } }, [
  'name',
  'externalId',
  'courseId',
])

export const filters = filtersOf(groups.list, {
  course_id: courseFilter,
  user_id: { ...userFilter('user'), summary: 'Filter by member: id, external id or e-mail address' },
  q: { name: 'search', summary: 'Search names' },
  external_id: { summary: 'Filter by your own id' },
  managed_by: { summary: 'Filter by managing system' },
})

export const deletedFilters = filtersOf(
  groups.listDeleted,
  { course_id: { name: 'course', summary: 'Filter by course: id or external id' } },
  ['sort'],
)

export const memberFilters = filtersOf(groups.members, { user_id: userFilter('user') })

export const membershipFilters = filtersOf(groups.memberships, {
  group_id: { ...groupFilter, summary: 'Filter by group: id, external id or name' },
  user_id: userFilter('user'),
})
