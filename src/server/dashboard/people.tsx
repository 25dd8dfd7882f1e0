import { lineOf } from '../../codec/display-text.ts'
import { analytics } from '../../contract/analytics.ts'
import { roles, userStatuses } from '../../contract/constants.ts'
import { groups } from '../../contract/groups.ts'
import { type User, users } from '../../contract/users.ts'
import { requireRight } from '../http/handler.ts'
import { ask, type SignedInRequest } from './call-api.ts'
import { type FilterField, FilterForm } from './filter-form.tsx'
import { capitalized, type List, listedOrFault, listPage, readWithExternalId } from './list.tsx'
import { noneText, type PageQuery, pageQueryOf } from './paging.tsx'
import type { TableFile } from './table-file.tsx'
import { Day } from './values.tsx'

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
      cell: (user, { base }) => (
        <>
          <a href={`${base}/dashboard/learners/${encodeURIComponent(user.id)}`}>{personName(user)}</a>
          {personName(user) === user.email ? null : <small>{user.email}</small>}
        </>
      ),
    },
    {
      name: 'External ID',
      look: 'broad',
      cell: ({ externalId }) =>
        externalId === null ? <span class="none">–</span> : <code>{lineOf(externalId, 64)}</code>,
    },
    { name: 'Role', cell: ({ role }) => capitalized(role) },
    { name: 'Status', cell: ({ status }) => <span class={`state ${status}`}>{status}</span> },
    { name: 'Added', sort: 'createdAt', cell: ({ createdAt }) => <Day time={createdAt} /> },
    { name: 'Updated', sort: 'updatedAt', cell: ({ updatedAt }) => <Day time={updatedAt} /> },
  ],
}

export const peopleFile: TableFile = { path, operation: users.list, read: readPeople }

/** For staff; instructors see those of their courses. */
export const peoplePage = listPage<User>({
  path,
  section: path,
  title: 'People',
  list: peopleList,
  read(signedIn) {
    requireRight(signedIn.principal, analytics.learners)
    return listedOrFault(() => readPeople(signedIn, pageQueryOf(signedIn)))
  },
  file: peopleFile,
  filters: async (signedIn, { fault }) => (
    <FilterForm
      signedIn={signedIn}
      label="Filter people"
      fields={await filterFields(signedIn)}
      kept={['sort']}
      anchor="people"
      fault={fault}
    />
  ),
  none: ({ query }, { nextCursor = null }) => (
    <p>
      {noneText(
        nextCursor,
        filterNames.some((name) => query.get(name)) ? 'No people match.' : 'No people yet.',
      )}
    </p>
  ),
})

const filterNames = ['q', 'role', 'status', 'group'] as const

async function readPeople(signedIn: SignedInRequest, page: PageQuery) {
  requireRight(signedIn.principal, analytics.learners)
  const { query } = signedIn
  const [q, role, status, group] = filterNames.map((name) => query.get(name)?.trim() || undefined)
  const filter = { q, role, status, group_id: group, sort: query.get('sort') ?? 'email' }
  return readWithExternalId({ ...filter, ...page }, (asked) => ask(signedIn, users.list, { query: asked }))
}

const maxGroups = 100

async function filterFields(signedIn: SignedInRequest): Promise<FilterField[]> {
  const { data } = await ask(signedIn, groups.list, {
    query: { sort: 'name', limit: String(maxGroups) },
  })
  const choicesOf = (values: readonly string[]) => values.map((value) => [value, capitalized(value)] as const)
  return [
    { name: 'q', label: 'Name, address or external ID', type: 'search' },
    { name: 'role', label: 'Role', choices: choicesOf(roles), all: 'Any role' },
    { name: 'status', label: 'Status', choices: choicesOf(userStatuses), all: 'Not deleted' },
    ...(data.length === 0 && !signedIn.query.get('group')
      ? []
      : [
          {
            name: 'group',
            label: 'Group',
            choices: data.map(({ id, name }) => [id, name] as const),
            all: 'All groups',
          },
        ]),
  ]
}

/** The e-mail address of a user without a name. */
export function personName({ profile: { firstName, lastName }, email }: User): string {
  return [firstName, lastName].filter(Boolean).join(' ').trim() || email
}
