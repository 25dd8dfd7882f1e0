import { isDay } from '../../codec/time-text.ts'
import { auditedActions, auditedNouns, nounOf } from '../../contract/actions.ts'
import { audit } from '../../contract/audit.ts'
import { type Chain, chainOf, maxWaiting } from '../audit/audit-log.ts'
import { type EntryRun, pageOfRuns, runOfOne } from '../audit/entry-runs.ts'
import { requireRight } from '../http/handler.ts'
import type { ProblemError } from '../problem-error.ts'
import { foldHref, runColumns } from './audit-runs.tsx'
import { ask, queryOf, type SignedInRequest } from './call-api.ts'
import { type Listed, listedOrFault, listPage, startOfDay } from './list.tsx'
import { noneText, pageQueryOf, pageSize } from './paging.tsx'
import type { TableFile } from './table-file.tsx'
import { formatCount } from './values.tsx'

const section = '/dashboard/audit'

/** Each entry by itself. */
export const auditFile: TableFile = {
  path: section,
  operation: audit.list,
  read: (signedIn, page) =>
    ask(signedIn, audit.list, { query: { ...page, ...auditQueryOf(signedIn.query) } }),
}

/** For admins. */
export const auditPage = listPage<EntryRun>({
  path: section,
  section,
  title: 'Audit log',
  intro: 'Who changed what, and who signed in or was refused. Entries cannot be changed or deleted.',
  list: { id: 'entries', title: 'Entries', caption: 'Entries, newest first', columns: runColumns },
  read: listedOf,
  file: auditFile,
  filters: (signedIn, { fault }) => (
    <>
      <AuditFilter signedIn={signedIn} fault={fault} />
      <FoldLink signedIn={signedIn} />
    </>
  ),
  none: (_, { nextCursor = null }) => <p>{noneText(nextCursor, 'No entries match.')}</p>,
  below: async ({ database }) => <ChainState chain={await chainOf(database)} />,
})

const runBounds = { runs: pageSize, entries: 2_000 }

function listedOf(signedIn: SignedInRequest): Promise<Listed<EntryRun>> {
  const query = { ...pageQueryOf(signedIn), ...auditQueryOf(signedIn.query) }
  return listedOrFault(async () => {
    if (isFolded(signedIn)) {
      requireRight(signedIn.principal, audit.list)
      return pageOfRuns(signedIn.database, queryOf(audit.list.query, query), runBounds)
    }
    const { data, nextCursor } = await ask(signedIn, audit.list, { query })
    return { data: data.map(runOfOne), nextCursor }
  })
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
function auditQueryOf(query: URLSearchParams): Readonly<Record<string, string | undefined>> {
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
function dayInput(value: string): string {
  return value === '' || isDay(value) ? 'date' : 'text'
}

function AuditFilter({ signedIn, fault }: { signedIn: SignedInRequest; fault: ProblemError | undefined }) {
  const { query, base, request } = signedIn
  const value = (name: (typeof names)[number]) => query.get(name) ?? ''
  const chosen = value('action')
  const here = base + request.path
  const Input = ({ name, label, type }: { name: (typeof names)[number]; label: string; type?: string }) => (
    <div>
      <label for={name}>{label}</label>
      <input
        id={name}
        name={name}
        type={type ?? 'text'}
        value={value(name)}
        maxlength={300}
        autocomplete="off"
      />
    </div>
  )
  const isFiltered = names.some((name) => value(name) !== '')
  return (
    <search>
      <details class="fold" open={isFiltered || fault !== undefined}>
        <summary>Filter entries</summary>
        <form method="get" action={here} class="narrow-down" aria-label="Filter entries">
          {fault ? (
            <div class="fault" role="alert">
              <p>{fault.message}</p>
            </div>
          ) : null}
          <div>
            <label for="action">Action</label>
            <select id="action" name="action">
              <option value="">All actions</option>
              {auditedNouns.map((noun) => (
                <optgroup label={noun}>
                  <option value={noun} selected={chosen === noun}>{`${noun}: all`}</option>
                  {auditedActions
                    .filter((action) => nounOf(action) === noun)
                    .map((action) => (
                      <option value={action} selected={chosen === action}>
                        {action}
                      </option>
                    ))}
                </optgroup>
              ))}
            </select>
          </div>
          <Input name="user" label="User (e-mail or id)" />
          <Input name="subject" label="Subject ID" />
          <Input name="credential" label="Credential ID" />
          <Input name="from" label="From day (UTC)" type={dayInput(value('from'))} />
          <Input name="to" label="To day (UTC)" type={dayInput(value('to'))} />
          {query.get('fold') === 'off' ? <input type="hidden" name="fold" value="off" /> : null}
          <div class="actions">
            <button type="submit" class="quiet">
              Filter
            </button>
            {isFiltered ? <a href={here}>Clear</a> : null}
          </div>
        </form>
      </details>
    </search>
  )
}

function ChainState({ chain: { linked, hash, waiting } }: { chain: Chain }) {
  return (
    <section class="card" aria-labelledby="chain">
      <h2 id="chain">Chain</h2>
      <p>
        Each entry has a hash that covers the entry before it, so that a changed or missing entry shows.{' '}
        <code class="word">learnctl audit verify</code> calculates all of them again. Keep the last hash
        elsewhere to compare it later.
      </p>
      <dl class="facts">
        <dt>Linked entries</dt>
        <dd>{formatCount(linked)}</dd>
        {waiting === 0 ? null : (
          <>
            <dt>Waiting to be linked</dt>
            <dd>{formatCount(Math.min(waiting, maxWaiting)) + (waiting > maxWaiting ? '+' : '')}</dd>
          </>
        )}
        <dt>Last hash</dt>
        <dd>
          <code>{hash}</code>
        </dd>
      </dl>
    </section>
  )
}
