import { lineOf } from '../../codec/display-text.ts'
import { auditedActions, auditedNouns, nounOf } from '../../contract/actions.ts'
import { type AuditEntry, audit } from '../../contract/audit.ts'
import { Card } from '../../report/elements.tsx'
import { type Chain, chainOf, maxWaiting } from '../audit/audit-log.ts'
import type { SignedInRequest } from './call-api.ts'
import { FilterForm } from './filter-form.tsx'
import { listPage, startOfDay } from './list.tsx'
import { Facts, formatCount, Minute, Name, none, recordUrl } from './values.tsx'

const section = '/dashboard/audit'

/** For admins. */
export const auditPages = listPage<AuditEntry>({
  path: section,
  title: 'Audit log',
  intro: 'Who changed what, and who signed in or was refused. Entries cannot be changed or deleted.',
  operation: audit.list,
  query: auditQueryOf,
  list: {
    id: 'entries',
    title: 'Entries',
    caption: 'Entries, newest first',
    columns: [
      {
        name: 'Action',
        cell: ({ id, action }, signedIn) => (
          <a href={recordUrl(signedIn, 'audit', id)}>
            <Name text={action} />
          </a>
        ),
      },
      { name: 'Time', cell: ({ at }) => <Minute time={at} /> },
      { name: 'Address', cell: ({ address }) => (address === null ? none : lineOf(address, 64)) },
      { name: 'Subject', look: 'broad', cell: (entry) => <SubjectName entry={entry} /> },
      { name: 'By', look: 'broad', cell: (entry) => <Actor entry={entry} /> },
    ],
  },
  filters: (signedIn, { fault }) => <AuditFilter signedIn={signedIn} isOpen={fault !== undefined} />,
  none: 'No entries match.',
  below: async ({ database }) => <ChainState chain={await chainOf(database)} />,
})

/** The credential alone if no user is known. */
export function Actor({ entry: { userId, userEmail, credential } }: { entry: AuditEntry }) {
  const name = userEmail ?? userId
  if (name === null)
    return credential === null ? <span class="none">Nobody</span> : <code>{lineOf(credential, 64)}</code>
  return (
    <>
      <Name text={name} />
      {credential === null ? null : <small>{lineOf(credential, 64)}</small>}
    </>
  )
}

/** Its id if it has no name. */
export function SubjectName({ entry: { subjectName, subjectId } }: { entry: AuditEntry }) {
  if (subjectName !== null) return <Name text={subjectName} maxLength={200} />
  return subjectId === null ? none : <code>{lineOf(subjectId, 100)}</code>
}

const names = ['user', 'action', 'subject', 'credential', 'from', 'to'] as const
const dayMs = 24 * 60 * 60 * 1000

/** Days are in UTC; an e-mail address needs no prefix. */
function auditQueryOf({ query }: SignedInRequest): Readonly<Record<string, string | undefined>> {
  const given = (name: (typeof names)[number]) => query.get(name)?.trim() || undefined
  const user = given('user')
  const action = given('action')
  // The action field also offers whole nouns.
  const isNoun = auditedNouns.some((noun) => noun === action)
  return {
    user_id: user?.includes('@') && !user.includes(':') ? `email:${user}` : user,
    [isNoun ? 'noun' : 'action']: action,
    subject_id: given('subject'),
    credential: given('credential'),
    since: startOfDay(given('from')),
    until: startOfDay(given('to'), dayMs),
  }
}

function AuditFilter({ signedIn, isOpen }: { signedIn: SignedInRequest; isOpen: boolean }) {
  const value = (name: (typeof names)[number]) => signedIn.query.get(name) ?? ''
  return (
    <details class="fold" open={isOpen || names.some((name) => value(name) !== '')}>
      <summary>Filter entries</summary>
      <FilterForm
        signedIn={signedIn}
        label="Filter entries"
        fields={[
          { name: 'action', label: 'Action', all: 'All actions', groups: actionsByNoun },
          { name: 'user', label: 'User (e-mail or id)' },
          { name: 'subject', label: 'Subject ID' },
          { name: 'credential', label: 'Credential ID' },
          { name: 'from', label: 'From day (UTC)', type: 'date' },
          { name: 'to', label: 'To day (UTC)', type: 'date' },
        ]}
      />
    </details>
  )
}

/** The whole noun first. */
const actionsByNoun = auditedNouns.map((noun) => {
  const actions = auditedActions.filter((action) => nounOf(action) === noun)
  return [noun, [[noun, `${noun}: all`], ...actions.map((action) => [action, action] as const)]] as const
})

function ChainState({ chain: { linked, hash, waiting } }: { chain: Chain }) {
  return (
    <Card id="chain" title="Chain">
      <p>
        Each entry has a hash that covers the entry before it, so that a changed or missing entry shows.{' '}
        <code class="word">learnctl audit verify</code> calculates all of them again. Keep the last hash
        elsewhere to compare it later.
      </p>
      <Facts
        facts={[
          ['Linked entries', formatCount(linked)],
          [
            'Waiting to be linked',
            waiting > 0 && formatCount(Math.min(waiting, maxWaiting)) + (waiting > maxWaiting ? '+' : ''),
          ],
          ['Last hash', <code>{hash}</code>],
        ]}
      />
    </Card>
  )
}
