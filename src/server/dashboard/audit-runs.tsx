import type { Child } from 'hono/jsx'
import { type Action, type Noun, nounOf } from '../../contract/actions.ts'
import type { AuditEntry } from '../../contract/audit.ts'
import type { EntryRun, Tally } from '../audit-log/entry-runs.ts'
import { Actor, SubjectName } from './audit-names.tsx'
import type { SignedInRequest } from './signed-in-request.ts'
import { Table } from './table.tsx'
import { counted, Minute, many, Period, shown } from './value-text.tsx'

const section = '/dashboard/audit'

/** The words for things of a kind that are not the noun itself, with an s for several. */
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

/** Actions whose words are not their verb and their noun. */
const actionWords: Partial<Record<Action, (tally: Tally) => string>> = {
  'user.password_changed': ({ subjects }) => `changed the password of ${many(subjects, 'user')}`,
  'grant.token_revoked': ({ entries }) => `revoked ${many(entries, 'token')}`,
  'session.created': ({ entries }) => `signed in ${many(entries, 'time')}`,
  'session.refused': ({ entries }) => `refused ${many(entries, 'sign-in')}`,
  'session.ended': ({ entries }) => `ended ${many(entries, 'session')}`,
}

/** `Created 1,245 users, updated 3 users`. */
function runWords({ tallies }: EntryRun): string {
  const words = tallies
    .map((tally) => {
      const noun = nounOf(tally.action)
      const [one, several] = nounWords[noun] ?? [noun]
      const verb = tally.action.slice(noun.length + 1)
      return actionWords[tally.action]?.(tally) ?? `${verb} ${many(tally.subjects, one, several)}`
    })
    .join(', ')
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
}

/** The address of one entry. */
function entryHref({ base }: SignedInRequest, { id }: AuditEntry): string {
  return `${base}${section}/${encodeURIComponent(id)}`
}

/** The address of this list with each entry by itself, or with runs folded. */
export function foldHref({ base, query }: SignedInRequest, fold: 'on' | 'off'): string {
  const search = new URLSearchParams(query)
  for (const name of ['cursor', 'done', 'fold']) search.delete(name)
  if (fold === 'off') search.set('fold', 'off')
  return search.size === 0 ? base + section : `${base}${section}?${search}`
}

/** The address of the entries of a run, each by itself: the filters of this list, narrowed to the run. */
function runHref({ base, query }: SignedInRequest, run: EntryRun): string {
  const search = new URLSearchParams(query)
  for (const name of ['cursor', 'done']) search.delete(name)
  const [newest] = run.shown
  const given = {
    user: newest?.userId,
    credential: newest?.credential,
    action: run.tallies.length === 1 ? run.tallies[0]?.action : undefined,
    from: run.oldestAt,
    // The end of a period is not a part of it.
    to: new Date(Date.parse(run.newestAt) + 1).toISOString(),
    fold: 'off',
  }
  for (const [name, value] of Object.entries(given)) if (value != null) search.set(name, value)
  return `${base}${section}?${search}`
}

/** A table of runs; a run of several entries is one row that opens. */
export function RunTable({ signedIn, runs }: { signedIn: SignedInRequest; runs: readonly EntryRun[] }) {
  return (
    <Table
      caption="Entries, newest first"
      columns={[
        { name: 'Action' },
        { name: 'Time' },
        { name: 'Address' },
        { name: 'Subject', look: 'broad' },
        { name: 'By', look: 'broad' },
      ]}
      rows={runs.flatMap((run) => {
        const [entry] = run.shown
        if (!entry) return []
        const isOne = run.entries === 1
        return [
          [
            isOne ? <a href={entryHref(signedIn, entry)}>{entry.action}</a> : <RunName run={run} />,
            isOne ? <Minute time={entry.at} /> : <Period start={run.oldestAt} end={run.newestAt} />,
            entry.address === null ? <span class="none">–</span> : shown(entry.address, 64),
            isOne ? <SubjectName entry={entry} /> : <RunEntries signedIn={signedIn} run={run} />,
            <Actor entry={entry} />,
          ] as readonly Child[],
        ]
      })}
    />
  )
}

function RunName({ run }: { run: EntryRun }) {
  return (
    <>
      {runWords(run)}
      {run.isContinued ? <small>Continued from the previous page</small> : null}
      {run.continues ? <small>Continues on the next page</small> : null}
    </>
  )
}

/** The newest entries of a run, and the way to all of them. */
function RunEntries({ signedIn, run }: { signedIn: SignedInRequest; run: EntryRun }) {
  const hasOneAction = run.tallies.length === 1
  return (
    <details class="run">
      <summary>{many(run.entries, 'entry', 'entries')}</summary>
      <ul>
        {run.shown.map((entry) => (
          <li>
            <a href={entryHref(signedIn, entry)}>
              {entry.subjectName === null && entry.subjectId === null ? (
                entry.action
              ) : (
                <SubjectName entry={entry} />
              )}
            </a>
            {hasOneAction ? null : <small>{entry.action}</small>}
          </li>
        ))}
      </ul>
      <p>
        <a href={runHref(signedIn, run)}>{`List all ${counted(run.entries)} entries`}</a>
      </p>
    </details>
  )
}
