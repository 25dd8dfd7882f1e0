import { isDay } from '../../codec/time-text.ts'
import { auditedActions, auditedNouns, nounOf } from '../../contract/actions.ts'
import { audit } from '../../contract/audit.ts'
import { Card } from '../../report/elements.tsx'
import { type Chain, chainOf, maxWaiting } from '../audit/audit-log.ts'
import { type EntryRun, pageOfRuns, runOfOne } from '../audit/entry-runs.ts'
import { requireRight } from '../http/handler.ts'
import { foldHref, runColumns } from './audit-runs.tsx'
import { ask, queryOf, type SignedInRequest } from './call-api.ts'
import { FilterForm } from './filter-form.tsx'
import { type Listed, listPage, startOfDay } from './list.tsx'
import { pageQueryOf, pageSize } from './paging.tsx'
import { Facts, formatCount } from './values.tsx'

const section = '/dashboard/audit'

/** For admins. */
export const auditPages = listPage<EntryRun>({
  path: section,
  title: 'Audit log',
  intro: 'Who changed what, and who signed in or was refused. Entries cannot be changed or deleted.',
  operation: audit.list,
  query: auditQueryOf,
  list: { id: 'entries', title: 'Entries', caption: 'Entries, newest first', columns: runColumns },
  read: readRuns,
  filters: (signedIn, { fault }) => (
    <>
      <AuditFilter signedIn={signedIn} isOpen={fault !== undefined} />
      <FoldLink signedIn={signedIn} />
    </>
  ),
  none: 'No entries match.',
  below: async ({ database }) => <ChainState chain={await chainOf(database)} />,
})

const runBounds = { runs: pageSize, entries: 2_000 }

/** The files have each entry by itself. */
async function readRuns(signedIn: SignedInRequest): Promise<Listed<EntryRun>> {
  const query = { ...pageQueryOf(signedIn), ...auditQueryOf(signedIn) }
  if (isFolded(signedIn)) {
    requireRight(signedIn.principal, audit.list)
    return pageOfRuns(signedIn.database, queryOf(audit.list.query, query), runBounds)
  }
  const { data, nextCursor } = await ask(signedIn, audit.list, { query })
  return { data: data.map(runOfOne), nextCursor }
}

/** False on request, and if all entries are about one subject. */
function isFolded({ query }: SignedInRequest): boolean {
  return query.get('fold') !== 'off' && !query.get('subject')?.trim()
}

/** None for a list about one subject. */
function FoldLink({ signedIn }: { signedIn: SignedInRequest }) {
  if (signedIn.query.get('subject')?.trim()) return null
  const fold = isFolded(signedIn) ? 'off' : 'on'
  return (
    <p>
      <a href={foldHref(signedIn, fold)}>
        {fold === 'off' ? 'List each entry by itself' : 'Combine related entries'}
      </a>
    </p>
  )
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

/** `date` would lose the time of day that a link to a run has. */
function dayInput(value: string): 'date' | 'text' {
  return value === '' || isDay(value) ? 'date' : 'text'
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
          { name: 'from', label: 'From day (UTC)', type: dayInput(value('from')) },
          { name: 'to', label: 'To day (UTC)', type: dayInput(value('to')) },
        ]}
        kept={['fold']}
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
