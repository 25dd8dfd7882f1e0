import type { Child } from 'hono/jsx'
import { lineOf } from '../../codec/display-text.ts'
import { auditedActions, auditedNouns, nounOf } from '../../contract/actions.ts'
import { type AuditEntry, audit } from '../../contract/audit.ts'
import { courses } from '../../contract/courses.ts'
import { endpoints } from '../../contract/endpoints.ts'
import { grades } from '../../contract/grades.ts'
import { integrations } from '../../contract/integrations.ts'
import { users } from '../../contract/users.ts'
import { Card, Table } from '../../report/elements.tsx'
import { type Chain, chainOf, maxWaiting } from '../audit/audit-log.ts'
import type { Reply } from '../http/reply.ts'
import { ask, askOrNone, type SignedInRequest } from './call-api.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { framePage } from './frame.tsx'
import { listPage } from './list.tsx'
import { filterForm, startOfDay } from './list-parameters.tsx'
import {
  codeOrNone,
  detailsCard,
  factList,
  formatCount,
  lineOrNone,
  Minute,
  Name,
  none,
  recordLink,
  recordUrl,
} from './values.tsx'

const section = '/dashboard/audit'

/** For admins. */
const list = listPage<AuditEntry>({
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
        cell: ({ id, action }, signedIn) => recordLink(signedIn, 'audit', id, <Name text={action} />),
      },
      { name: 'Time', cell: ({ at }) => <Minute time={at} /> },
      { name: 'Address', cell: ({ address }) => lineOrNone(address, 64) },
      { name: 'Subject', look: 'broad', cell: subjectName },
      { name: 'By', look: 'broad', cell: actorName },
    ],
  },
  above: (signedIn, { fault }) => entryFilter(signedIn, fault !== undefined),
  none: 'No entries match.',
  below: async ({ database }) => chainCard(await chainOf(database)),
})

/** The credential alone if no user is known. */
function actorName({ userId, userEmail, credential }: AuditEntry): Child {
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
function subjectName({ subjectName: name, subjectId }: AuditEntry): Child {
  return name === null ? codeOrNone(subjectId, 100) : <Name text={name} maxLength={200} />
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

function entryFilter(signedIn: SignedInRequest, isOpen: boolean): Child {
  return (
    <details class="fold" open={isOpen || names.some((name) => (signedIn.query.get(name) ?? '') !== '')}>
      <summary>Filter entries</summary>
      {filterForm(signedIn, 'Filter entries', [
        { name: 'action', label: 'Action', all: 'All actions', groups: actionsByNoun },
        { name: 'user', label: 'User (e-mail or id)' },
        { name: 'subject', label: 'Subject ID' },
        { name: 'credential', label: 'Credential ID' },
        { name: 'from', label: 'From day (UTC)', type: 'date' },
        { name: 'to', label: 'To day (UTC)', type: 'date' },
      ])}
    </details>
  )
}

/** The whole noun first. */
const actionsByNoun = auditedNouns.map((noun) => {
  const actions = auditedActions.filter((action) => nounOf(action) === noun)
  return [noun, [[noun, `${noun}: all`], ...actions.map((action) => [action, action] as const)]] as const
})

function chainCard({ linked, hash, waiting }: Chain): Child {
  return (
    <Card id="chain" title="Chain">
      <p>
        Each entry has a hash that covers the entry before it, so that a changed or missing entry shows.{' '}
        <code class="word">learnctl audit verify</code> calculates all of them again. Keep the last hash
        elsewhere to compare it later.
      </p>
      {factList([
        ['Linked entries', formatCount(linked)],
        [
          'Waiting to be linked',
          waiting > 0 && formatCount(Math.min(waiting, maxWaiting)) + (waiting > maxWaiting ? '+' : ''),
        ],
        ['Last hash', <code>{hash}</code>],
      ])}
    </Card>
  )
}

const page: DashboardPage = {
  path: `${section}/:entryId`,
  show: async (signedIn) => showEntry(signedIn, await ask(signedIn, audit.get)),
}

async function showEntry(signedIn: SignedInRequest, entry: AuditEntry): Promise<Reply> {
  const { address, userAgent, requestId, changeId, subjectId, place, hash } = entry
  const subjectHref = await subjectPage(signedIn, entry)
  const linked = (name: Child) => (subjectHref ? <a href={subjectHref}>{name}</a> : name)
  const facts = [
    ['Time', <Minute time={entry.at} />],
    ['By', actorName(entry)],
    ['Subject', entry.subjectName !== null && linked(subjectName(entry))],
    ['Subject ID', subjectId === null ? none : linked(<code>{lineOf(subjectId, 300)}</code>)],
    ['Address', lineOrNone(address, 64)],
    ['Program', lineOrNone(userAgent, 300)],
    ['Request', codeOrNone(requestId, 64)],
    ['Part of', changeId && recordLink(signedIn, 'changes', changeId, 'A change of many records')],
    ['Place in the chain', place === null ? 'Not linked yet' : String(place)],
    ['Hash', hash === null ? none : <code>{hash}</code>],
  ] as const
  return framePage(
    signedIn,
    {
      title: 'Audit entry',
      section,
      back: [signedIn.base + section, 'Audit log'],
      heading: entry.action,
    },
    detailsCard(
      facts,
      <nav class="pages" aria-label="Other entries">
        {otherEntries(signedIn, entry)}
      </nav>,
    ),
    <Card id="changes" title="Changes">
      {changesTable(entry)}
    </Card>,
  )
}

function changesTable({ before, after, detailsSalt }: AuditEntry): Child {
  const all = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  const fields = [...all].filter((field) => (before?.[field] ?? after?.[field] ?? null) !== null)
  if (detailsSalt === null) return <p>The details were erased with the user whom they concern.</p>
  if (fields.length === 0) return <p>No field was changed.</p>
  return (
    <Table
      caption="Fields before and after"
      columns={[{ name: 'Field' }, { name: 'Before', look: 'broad' }, { name: 'After', look: 'broad' }]}
      rows={fields.map((field) => [lineOf(field, 100), fieldValue(before, field), fieldValue(after, field)])}
    />
  )
}

function fieldValue(values: AuditEntry['before'], field: string): Child {
  const value = values && Object.hasOwn(values, field) ? values[field] : undefined
  if (value === undefined || value === null) return none
  if (value === '') return <span class="none">Empty</span>
  return <code>{lineOf(typeof value === 'string' ? value : JSON.stringify(value), 2000)}</code>
}

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

function otherEntries({ base }: SignedInRequest, { subjectId, userId, credential }: AuditEntry): Child {
  const ways = [
    ['subject', subjectId, 'All entries about this subject'],
    ['user', userId, 'All entries by this user'],
    ['credential', credential, 'All entries with this credential'],
  ] as const
  return ways.map(([name, value, words]) =>
    value === null ? null : (
      <a href={`${base}${section}?${new URLSearchParams({ [name]: value })}`}>{words}</a>
    ),
  )
}

export const auditPages = [...list, page]
