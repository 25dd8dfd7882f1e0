import { lineOf } from '../../codec/display-text.ts'
import { analytics } from '../../contract/analytics.ts'
import { roles, userStatuses } from '../../contract/constants.ts'
import { type User, users } from '../../contract/users.ts'
import { requireRight } from '../http/handler.ts'
import type { SignedInRequest } from './call-api.ts'
import { type FilterField, FilterForm } from './filter-form.tsx'
import { groupFilter } from './group-filter.tsx'
import { capitalized, capitalizedChoices, filterIn, type List, listPage } from './list.tsx'
import { Day, none, recordUrl } from './values.tsx'

const path = '/dashboard/people'

const peopleList: List<User> = {
  id: 'people',
  title: 'People',
  caption: 'People of the academy',
  sort: 'email',
  columns: [
    {
      name: 'Person',
      sort: 'email',
      cell: (user, signedIn) => (
        <>
          <a href={recordUrl(signedIn, 'learners', user.id)}>{personName(user)}</a>
          {personName(user) === user.email ? null : <small>{user.email}</small>}
        </>
      ),
    },
    {
      name: 'External ID',
      look: 'broad',
      cell: ({ externalId }) => (externalId === null ? none : <code>{lineOf(externalId, 64)}</code>),
    },
    { name: 'Role', cell: ({ role }) => capitalized(role) },
    { name: 'Status', cell: ({ status }) => <span class={`state ${status}`}>{status}</span> },
    { name: 'Added', sort: 'createdAt', cell: ({ createdAt }) => <Day time={createdAt} /> },
    { name: 'Updated', sort: 'updatedAt', cell: ({ updatedAt }) => <Day time={updatedAt} /> },
  ],
}

/** For staff; instructors see those of their courses. */
export const peoplePages = listPage<User>({
  path,
  title: 'People',
  list: peopleList,
  operation: users.list,
  query(signedIn) {
    requireRight(signedIn.principal, analytics.learners)
    return { ...filterIn(signedIn.query, filterNames), sort: signedIn.query.get('sort') ?? 'email' }
  },
  findsExternalIds: true,
  filters: async (signedIn) => (
    <FilterForm
      signedIn={signedIn}
      label="Filter people"
      fields={await filterFields(signedIn)}
      anchor="people"
    />
  ),
  none: 'No people yet.',
  noMatch: 'No people match.',
})

/** Parameters of the API by those of the page. */
const filterNames = { q: 'q', role: 'role', status: 'status', group_id: 'group' }

async function filterFields(signedIn: SignedInRequest): Promise<FilterField[]> {
  const group = await groupFilter(signedIn, 'All groups')
  return [
    { name: 'q', label: 'Name, address or external ID', type: 'search' },
    { name: 'role', label: 'Role', choices: capitalizedChoices(roles), all: 'Any role' },
    { name: 'status', label: 'Status', choices: capitalizedChoices(userStatuses), all: 'Not deleted' },
    ...(group ? [group] : []),
  ]
}

/** The e-mail address of a user without a name. */
export function personName({ profile: { firstName, lastName }, email }: User): string {
  return [firstName, lastName].filter(Boolean).join(' ').trim() || email
}
