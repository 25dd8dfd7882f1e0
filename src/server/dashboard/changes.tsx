import { lineOf } from '../../codec/display-text.ts'
import { type Change, type ChangedRecord, changes } from '../../contract/changes.ts'
import { Card } from '../../report/elements.tsx'
import { isRole } from '../http/handler.ts'
import { ask, type SignedInRequest } from './call-api.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { Back, framePage } from './frame.tsx'
import { type List, ListCard, listPage } from './list.tsx'
import { pageQueryOf } from './paging.tsx'
import { countOf, Day, Details, formatCount, Minute, Name, none, recordUrl } from './values.tsx'

const section = '/dashboard/changes'

/** Imports, rosters, applies and the like: admins see all, others their own. */
const list = listPage<Change>({
  path: section,
  title: 'Changes',
  intro:
    'Imports, rosters, applies and other commands that change many records. Each can be undone as a whole for 30 days.',
  list: {
    id: 'list',
    title: 'Changes of many records',
    caption: 'Changes, newest first',
    columns: [
      {
        name: 'Change',
        cell: ({ id, command }, signedIn) => (
          <a href={recordUrl(signedIn, 'changes', id)}>{lineOf(command, 100)}</a>
        ),
      },
      {
        name: 'From',
        cell: ({ source }) => (source === null ? none : lineOf(source, 100)),
      },
      { name: 'Begun', cell: ({ createdAt }) => <Minute time={createdAt} /> },
      { name: 'By', look: 'broad', cell: ({ userEmail }) => <Name text={userEmail} /> },
      { name: 'What it did', look: 'broad', cell: (change) => <Counts change={change} /> },
      { name: 'State', cell: (change) => <State change={change} /> },
    ],
  },
  operation: changes.list,
  none: 'No changes of many records yet.',
})

const page: DashboardPage = {
  path: `${section}/:changeId`,
  async show(signedIn) {
    const { params } = signedIn
    const change = await ask(signedIn, changes.get)
    const listed = await ask(signedIn, changes.records, {
      params,
      query: pageQueryOf(signedIn),
    })
    const { source, undoes, undoneBy, createdAt, endedAt } = change
    const facts = [
      ['Begun', <Minute time={createdAt} />],
      ['Ended', endedAt && <Minute time={endedAt} />],
      ['By', lineOf(change.userEmail, 254)],
      ['From', source === null ? none : lineOf(source, 255)],
      ['State', <State change={change} />],
      ['What it did', <Counts change={change} />],
      ['Undoes', undoes && <ChangeLink signedIn={signedIn} id={undoes} />],
      ['Undone by', undoneBy && <ChangeLink signedIn={signedIn} id={undoneBy} />],
      ['ID', <code>{change.id}</code>],
    ] as const
    return framePage(
      signedIn,
      { title: 'Change', section },
      <>
        <Back to={`${signedIn.base}${section}`}>Changes</Back>
        <h1>{lineOf(change.command, 100)}</h1>
        <Details facts={facts} />
        <Card id="undo" title="Undo">
          <UndoText change={change} now={signedIn.request.now} />
        </Card>
        <ListCard
          signedIn={signedIn}
          list={records}
          listed={listed}
          none="The audit log has no entry of this change."
        />
      </>,
    )
  },
}

export const changePages = [...list, page]

const records: List<ChangedRecord> = {
  id: 'records',
  title: 'Differences',
  caption: 'What was done, oldest first',
  columns: [
    { name: 'Action', cell: (record, signedIn) => <ActionLink signedIn={signedIn} record={record} /> },
    {
      name: 'Record',
      look: 'broad',
      cell: ({ subjectName, subjectId, isErased }, signedIn) =>
        isErased ? (
          <span class="none">{isRole(signedIn, 'admin') ? 'Erased' : 'Not visible to you'}</span>
        ) : (
          <Name text={subjectName ?? subjectId ?? '–'} maxLength={200} />
        ),
    },
    { name: 'Before and after', look: 'broad', cell: (record) => <Differences record={record} /> },
  ],
}

/** For those who may read the audit log. */
function ActionLink({
  signedIn,
  record: { id, action },
}: {
  signedIn: SignedInRequest
  record: ChangedRecord
}) {
  if (!isRole(signedIn, 'admin')) return <Name text={action} />
  return (
    <a href={recordUrl(signedIn, 'audit', id)}>
      <Name text={action} />
    </a>
  )
}

/** Fields that follow from every change. */
const derived = ['version', 'updatedAt']
const maxFields = 5

function Differences({ record: { before, after } }: { record: ChangedRecord }) {
  if (!before || !after) return <span class="none">{before ? 'Removed' : after ? 'New' : '–'}</span>
  const fields = Object.keys(after).filter((field) => !derived.includes(field))
  const text = (value: unknown) => {
    if (value === undefined || value === null || value === '') return '–'
    return lineOf(typeof value === 'string' ? value : JSON.stringify(value), 80)
  }
  return (
    <>
      {fields.slice(0, maxFields).map((field) => (
        <div>
          {lineOf(field, 100)}: {text(before[field])} → {text(after[field])}
        </div>
      ))}
      {fields.length > maxFields ? <small>and {formatCount(fields.length - maxFields)} more</small> : null}
    </>
  )
}

function Counts({ change: { counts } }: { change: Change }) {
  if (counts.length === 0) return <span class="none">Nothing</span>
  return (
    <>
      {counts.map(({ noun, action, count }) => (
        <div>
          {countOf(count, noun)} {action.slice(noun.length + 1).replaceAll('_', ' ')}
        </div>
      ))}
    </>
  )
}

function State({ change: { state, undoneBy } }: { change: Change }) {
  return (
    <>
      <span class={`state ${state}`}>{state}</span>
      {undoneBy === null ? null : <small>undone</small>}
    </>
  )
}

function ChangeLink({ signedIn, id }: { signedIn: SignedInRequest; id: string }) {
  return (
    <a href={recordUrl(signedIn, 'changes', id)}>
      <code>{id}</code>
    </a>
  )
}

function UndoText({ change: { id, counts, undoableUntil }, now }: { change: Change; now: Date }) {
  if (counts.length === 0) return <p>There is nothing to undo.</p>
  if (Date.parse(undoableUntil) <= now.getTime()) return <p>It is too old to be undone.</p>
  return (
    <>
      <p>
        This command shows what undoing it would change, and asks before it does so. Fields that were changed
        since are kept. Possible until <Day time={undoableUntil} />.
      </p>
      <pre class="code" tabindex={0}>{`learnctl undo ${id}`}</pre>
    </>
  )
}
