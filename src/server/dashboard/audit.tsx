import type { Child } from 'hono/jsx'
import type { AuditEntry } from '../../contract/audit.ts'
import { audit } from '../../contract/audit.ts'
import { auditRoutes } from '../audit-log/audit-log.ts'
import { chainOf } from '../audit-log/chain.ts'
import { type EntryRun, pageOfRuns, runOfOne } from '../audit-log/entry-runs.ts'
import { requireRight } from '../http/handler.ts'
import type { Reply } from '../http/reply.ts'
import { ProblemError } from '../problem/problem-error.ts'
import { AuditFilter, auditQueryOf } from './audit-filter.tsx'
import { otherEntries, subjectPage } from './audit-links.ts'
import { Actor, SubjectName } from './audit-names.tsx'
import { foldHref, runColumns } from './audit-runs.tsx'
import { ChainState } from './chain-state.tsx'
import type { DashboardPage } from './dashboard-page.ts'
import { Facts } from './facts.tsx'
import { framed } from './frame.tsx'
import { type Listed, listPage } from './list.tsx'
import { noneText, pageAsked, pageSize } from './paging.tsx'
import { ask, queryOf, type SignedInRequest } from './signed-in-request.ts'
import { Table } from './table.tsx'
import { Minute, shown } from './value-text.tsx'

const section = '/dashboard/audit'

/** The audit log, for admins: who did what, filtered, and how far its entries are linked. */
export const auditPage = listPage<EntryRun>({
  path: section,
  section,
  title: 'Audit log',
  intro: 'Who changed what, and who signed in or was refused. Entries cannot be changed or deleted.',
  list: { id: 'entries', title: 'Entries', caption: 'Entries, newest first', columns: runColumns },
  read: listedOf,
  filters: (signedIn, { fault }) => (
    <>
      <AuditFilter signedIn={signedIn} fault={fault} />
      <FoldLink signedIn={signedIn} />
    </>
  ),
  none: (_, { nextCursor = null }) => <p>{noneText(nextCursor, 'No entries match.')}</p>,
  below: async ({ database }) => <ChainState chain={await chainOf(database)} />,
})

/** Limits of one page. */
const runBounds = { runs: pageSize, entries: 2_000 }

/** The entries that an address asks for; where what it asks for is wrong, none, and what was wrong. */
async function listedOf(signedIn: SignedInRequest): Promise<Listed<EntryRun>> {
  const query = { ...pageAsked(signedIn), ...auditQueryOf(signedIn.query) }
  try {
    if (isFolded(signedIn)) {
      requireRight(signedIn.principal, audit.list)
      return await pageOfRuns(signedIn.database, queryOf(audit.list.query, query), runBounds)
    }
    const { data, nextCursor } = await ask(signedIn, auditRoutes, audit.list, { query })
    return { data: data.map(runOfOne), nextCursor }
  } catch (error) {
    if (!(error instanceof ProblemError) || ![400, 404].includes(error.status)) throw error
    return { data: [], nextCursor: null, fault: error }
  }
}

/** False where each entry is listed by itself: on request, and where all entries are about one subject. */
function isFolded({ query }: SignedInRequest): boolean {
  return query.get('fold') !== 'off' && !query.get('subject')?.trim()
}

/** The way between runs and entries; none where one subject's entries are listed. */
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

/** One entry of the audit log: from where, and each field before and after. */
export const auditEntryPage: DashboardPage = {
  path: '/dashboard/audit/:entryId',
  show: async (signedIn) =>
    entryShown(signedIn, await ask(signedIn, auditRoutes, audit.get, { params: signedIn.params })),
}

async function entryShown(signedIn: SignedInRequest, entry: AuditEntry): Promise<Reply> {
  const { address, userAgent, requestId, subjectId, place, hash } = entry
  const none = <span class="none">–</span>
  const there = await subjectPage(signedIn, entry)
  const linked = (name: Child) => (there ? <a href={there}>{name}</a> : name)
  const facts = [
    ['Time', <Minute time={entry.at} />],
    ['By', <Actor entry={entry} />],
    ...(entry.subjectName === null ? [] : [['Subject', linked(<SubjectName entry={entry} />)] as const]),
    ['Subject ID', subjectId === null ? none : linked(<code>{shown(subjectId, 300)}</code>)],
    ['Address', address === null ? none : shown(address, 64)],
    ['Program', userAgent === null ? none : shown(userAgent, 300)],
    ['Request', requestId === null ? none : <code>{shown(requestId, 64)}</code>],
    ['Place in the chain', place === null ? 'Not linked yet' : String(place)],
    ['Hash', hash === null ? none : <code>{hash}</code>],
  ] as const
  return framed(
    signedIn,
    { title: 'Audit entry', section },
    <>
      <p class="back">
        <a href={`${signedIn.base}${section}`}>Audit log</a>
      </p>
      <h1>{entry.action}</h1>
      <section class="card" aria-labelledby="facts">
        <h2 id="facts">Details</h2>
        <Facts facts={facts} />
        <nav class="pages" aria-label="Other entries">
          {otherEntries(signedIn, entry).map(([href, words]) => (
            <a href={href}>{words}</a>
          ))}
        </nav>
      </section>
      <section class="card" aria-labelledby="changes">
        <h2 id="changes">Changes</h2>
        <Changes entry={entry} />
      </section>
    </>,
  )
}

function Changes({ entry: { before, after, detailsSalt } }: { entry: AuditEntry }) {
  const all = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  // What has no value before and after says nothing.
  const fields = [...all].filter((field) => (before?.[field] ?? after?.[field] ?? null) !== null)
  if (detailsSalt === null) return <p>The details were erased with the user whom they concern.</p>
  if (fields.length === 0) return <p>No field was changed.</p>
  return (
    <Table
      caption="Fields before and after"
      columns={[{ name: 'Field' }, { name: 'Before', look: 'broad' }, { name: 'After', look: 'broad' }]}
      rows={fields.map((field) => [
        shown(field, 100),
        <Value of={before} field={field} />,
        <Value of={after} field={field} />,
      ])}
    />
  )
}

function Value({ of, field }: { of: Readonly<Record<string, unknown>> | null; field: string }) {
  const value = of && Object.hasOwn(of, field) ? of[field] : undefined
  if (value === undefined || value === null) return <span class="none">–</span>
  if (value === '') return <span class="none">Empty</span>
  return <code>{shown(typeof value === 'string' ? value : JSON.stringify(value), 2000)}</code>
}
