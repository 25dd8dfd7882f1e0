import { lineOf } from '../../codec/display-text.ts'
import { type Action, type Noun, nounOf } from '../../contract/actions.ts'
import type { AuditEntry } from '../../contract/audit.ts'
import type { EntryRun, Tally } from '../audit/entry-runs.ts'
import type { SignedInRequest } from './call-api.ts'
import type { ListColumn } from './list.tsx'
import { pathWith, withoutPageOf } from './paging.tsx'
import { countOf, formatCount, Minute, Name, none, Period, recordUrl } from './values.tsx'

const section = '/dashboard/audit'

/** Those that differ from the noun itself; the plural defaults to the singular with an s. */
const nounWords: Partial<Record<Noun, readonly [one: string, several?: string]>> = {
  enrollment: ['enrolment'],
  key: ['API key'],
  app: ['application'],
  endpoint: ['webhook endpoint'],
  message: ['webhook message'],
  delivery: ['delivery', 'deliveries'],
  encryption_key: ['encryption key'],
  audit_log: ['audit log'],
}

/** Those that are not `<verb> <count> <noun>`. */
const actionWords: Partial<Record<Action, (tally: Tally) => string>> = {
  'user.password_changed': ({ subjects }) => `changed the password of ${countOf(subjects, 'user')}`,
  'grant.token_revoked': ({ entries }) => `revoked ${countOf(entries, 'token')}`,
  'settings.updated': () => 'updated the settings',
  'session.created': ({ entries }) => `signed in ${countOf(entries, 'time')}`,
  'session.refused': ({ entries }) => `refused ${countOf(entries, 'sign-in')}`,
  'session.ended': ({ entries }) => `ended ${countOf(entries, 'session')}`,
}

/** `Created 1,245 users, updated 3 users`. */
function runWords({ tallies }: EntryRun): string {
  const words = tallies
    .map((tally) => {
      const noun = nounOf(tally.action)
      const [one, several] = nounWords[noun] ?? [noun]
      const verb = tally.action.slice(noun.length + 1)
      return actionWords[tally.action]?.(tally) ?? `${verb} ${countOf(tally.subjects, one, several)}`
    })
    .join(', ')
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
}

export function foldHref({ base, query }: SignedInRequest, fold: 'on' | 'off'): string {
  const search = withoutPageOf(query)
  search.delete('fold')
  if (fold === 'off') search.set('fold', 'off')
  return pathWith(base + section, search)
}

function runHref({ base, query }: SignedInRequest, run: EntryRun): string {
  const search = withoutPageOf(query)
  const [newest] = run.shown
  const given = {
    user: newest.userId,
    credential: newest.credential,
    action: run.tallies.length === 1 ? run.tallies[0]?.action : undefined,
    from: run.oldestAt,
    // The end of a period is exclusive.
    to: new Date(Date.parse(run.newestAt) + 1).toISOString(),
    fold: 'off',
  }
  for (const [name, value] of Object.entries(given)) if (value != null) search.set(name, value)
  return `${base}${section}?${search}`
}

/** A run of several entries is one row that opens. */
export const runColumns: readonly ListColumn<EntryRun>[] = [
  {
    name: 'Action',
    cell: (run, signedIn) =>
      run.entries === 1 ? (
        <a href={recordUrl(signedIn, 'audit', run.shown[0].id)}>
          <Name text={run.shown[0].action} />
        </a>
      ) : (
        <RunName run={run} />
      ),
  },
  {
    name: 'Time',
    cell: (run) =>
      run.entries === 1 ? (
        <Minute time={run.shown[0].at} />
      ) : (
        <Period start={run.oldestAt} end={run.newestAt} />
      ),
  },
  {
    name: 'Address',
    cell: ({ shown: [{ address }] }) => (address === null ? none : lineOf(address, 64)),
  },
  {
    name: 'Subject',
    look: 'broad',
    cell: (run, signedIn) =>
      run.entries === 1 ? <SubjectName entry={run.shown[0]} /> : <RunEntries signedIn={signedIn} run={run} />,
  },
  { name: 'By', look: 'broad', cell: (run) => <Actor entry={run.shown[0]} /> },
]

function RunName({ run }: { run: EntryRun }) {
  return (
    <>
      {runWords(run)}
      {run.isContinued ? <small>Continued from the previous page</small> : null}
      {run.continues ? <small>Continues on the next page</small> : null}
    </>
  )
}

function RunEntries({ signedIn, run }: { signedIn: SignedInRequest; run: EntryRun }) {
  const hasOneAction = run.tallies.length === 1
  return (
    <details class="run">
      <summary>{countOf(run.entries, 'entry', 'entries')}</summary>
      <ul>
        {run.shown.map((entry) => (
          <li>
            <a href={recordUrl(signedIn, 'audit', entry.id)}>
              {entry.subjectName === null && entry.subjectId === null ? (
                <Name text={entry.action} />
              ) : (
                <SubjectName entry={entry} />
              )}
            </a>
            {hasOneAction ? null : (
              <small>
                <Name text={entry.action} />
              </small>
            )}
          </li>
        ))}
      </ul>
      <p>
        <a href={runHref(signedIn, run)}>{`List all ${formatCount(run.entries)} entries`}</a>
      </p>
    </details>
  )
}

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
