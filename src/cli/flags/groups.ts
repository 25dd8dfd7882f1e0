import { GroupInput, groups } from '../../contract/groups.ts'
import { filtersOf, flagsOf } from './derive-flags.ts'

export const fields = flagsOf(GroupInput, {}, ['name', 'externalId', 'courseId'])

export const filters = filtersOf(groups.list, {
  user_id: { summary: 'Filter by member: id, external id or e-mail address' },
  q: { name: 'search', summary: 'Search names' },
})

export const deletedFilters = filtersOf(groups.listDeleted, {}, ['sort'])

export const memberFilters = filtersOf(groups.members)

export const membershipFilters = filtersOf(groups.memberships, {
  group_id: { summary: 'Filter by group: id, external id or name' },
})
