import type { Child } from 'hono/jsx'
import { lineOf } from '../../codec/display-text.ts'
import { type AuditEntry, audit } from '../../contract/audit.ts'
import { courses } from '../../contract/courses.ts'
import { endpoints } from '../../contract/endpoints.ts'
import { grades } from '../../contract/grades.ts'
import { integrations } from '../../contract/integrations.ts'
import { users } from '../../contract/users.ts'
import { Card, Table } from '../../report/elements.tsx'
import type { Reply } from '../http/reply.ts'
import { Actor, SubjectName } from './audit.tsx'
import { ask, askOrNone, type SignedInRequest } from './call-api.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { Back, framePage } from './frame.tsx'
import { Details, Minute, none, recordUrl } from './values.tsx'

const section = '/dashboard/audit'

export const auditEntryPage: DashboardPage = {
  path: '/dashboard/audit/:entryId',
  show: async (signedIn) => showEntry(signedIn, await ask(signedIn, audit.get)),
}

async function showEntry(signedIn: SignedInRequest, entry: AuditEntry): Promise<Reply> {
  const { address, userAgent, requestId, changeId, subjectId, place, hash } = entry
  const subjectHref = await subjectPage(signedIn, entry)
  const linked = (name: Child) => (subjectHref ? <a href={subjectHref}>{name}</a> : name)
  const facts = [
    ['Time', <Minute time={entry.at} />],
    ['By', <Actor entry={entry} />],
    ['Subject', entry.subjectName !== null && linked(<SubjectName entry={entry} />)],
    ['Subject ID', subjectId === null ? none : linked(<code>{lineOf(subjectId, 300)}</code>)],
    ['Address', address === null ? none : lineOf(address, 64)],
    ['Program', userAgent === null ? none : lineOf(userAgent, 300)],
    ['Request', requestId === null ? none : <code>{lineOf(requestId, 64)}</code>],
    ['Part of', changeId && <a href={recordUrl(signedIn, 'changes', changeId)}>A change of many records</a>],
    ['Place in the chain', place === null ? 'Not linked yet' : String(place)],
    ['Hash', hash === null ? none : <code>{hash}</code>],
  ] as const
  return framePage(
    signedIn,
    { title: 'Audit entry', section },
    <>
      <Back to={`${signedIn.base}${section}`}>Audit log</Back>
      <h1>{entry.action}</h1>
      <Details facts={facts}>
        <nav class="pages" aria-label="Other entries">
          {otherEntries(signedIn, entry).map(([href, words]) => (
            <a href={href}>{words}</a>
          ))}
        </nav>
      </Details>
      <Card id="changes" title="Changes">
        <Changes entry={entry} />
      </Card>
    </>,
  )
}

function Changes({ entry: { before, after, detailsSalt } }: { entry: AuditEntry }) {
  const all = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  const fields = [...all].filter((field) => (before?.[field] ?? after?.[field] ?? null) !== null)
  if (detailsSalt === null) return <p>The details were erased with the user whom they concern.</p>
  if (fields.length === 0) return <p>No field was changed.</p>
  return (
    <Table
      caption="Fields before and after"
      columns={[{ name: 'Field' }, { name: 'Before', look: 'broad' }, { name: 'After', look: 'broad' }]}
      rows={fields.map((field) => [
        lineOf(field, 100),
        <Value of={before} field={field} />,
        <Value of={after} field={field} />,
      ])}
    />
  )
}

function Value({ of, field }: { of: Readonly<Record<string, unknown>> | null; field: string }) {
  const value = of && Object.hasOwn(of, field) ? of[field] : undefined
  if (value === undefined || value === null) return none
  if (value === '') return <span class="none">Empty</span>
  return <code>{lineOf(typeof value === 'string' ? value : JSON.stringify(value), 2000)}</code>
}

/** Reads the subjects that have a page, by noun. */
const subjects = {
  course: { place: 'courses', operation: courses.get, parameter: 'courseId' },
  user: { place: 'learners', operation: users.get, parameter: 'userId' },
  grade: { place: 'grades', operation: grades.get, parameter: 'gradeId' },
  endpoint: { place: 'endpoints', operation: endpoints.get, parameter: 'endpointId' },
  integration: { place: 'integrations', operation: integrations.get, parameter: 'lmsKind' },
} as const

/** Undefined if there is none, or no subject any more. */
async function subjectPage(
  signedIn: SignedInRequest,
  { noun, subjectId }: AuditEntry,
): Promise<string | undefined> {
  if (subjectId === null || !Object.hasOwn(subjects, noun)) return undefined
  const { place, operation, parameter } = subjects[noun as keyof typeof subjects]
  const found = await askOrNone(signedIn, operation, { params: { [parameter]: subjectId } })
  return found && recordUrl(signedIn, place, subjectId)
}

function otherEntries(
  { base }: SignedInRequest,
  { subjectId, userId, credential }: AuditEntry,
): readonly (readonly [href: string, words: string])[] {
  const ways = [
    ['subject', subjectId, 'All entries about this subject'],
    ['user', userId, 'All entries by this user'],
    ['credential', credential, 'All entries with this credential'],
  ] as const
  return ways.flatMap(([name, value, words]) =>
    value === null
      ? []
      : [[`${base}/dashboard/audit?${new URLSearchParams({ [name]: value })}`, words] as const],
  )
}
