import type { Child } from 'hono/jsx'
import { lineOf } from '../../codec/display-text.ts'
import { type Change, type ChangedRecord, changes } from '../../contract/changes.ts'
import { Card } from '../../report/elements.tsx'
import { isRole } from '../http/handler.ts'
import { ask } from './call-api.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { framePage } from './frame.tsx'
import { type List, listCard, listPage } from './list.tsx'
import { pageQueryOf } from './list-parameters.tsx'
import {
  countOf,
  Day,
  detailsCard,
  formatCount,
  lineOrNone,
  Minute,
  Name,
  recordLink,
  stateTag,
} from './values.tsx'

const section = '/dashboard/changes'

/** Admins see all, others their own. */
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
        cell: ({ id, command }, signedIn) => recordLink(signedIn, 'changes', id, lineOf(command, 100)),
      },
      { name: 'From', cell: ({ source }) => lineOrNone(source, 100) },
      { name: 'Begun', cell: ({ createdAt }) => <Minute time={createdAt} /> },
      { name: 'By', look: 'broad', cell: ({ userEmail }) => <Name text={userEmail} /> },
      { name: 'What it did', look: 'broad', cell: countLines },
      { name: 'State', cell: changeState },
    ],
  },
  operation: changes.list,
  none: 'No changes of many records yet.',
})

const page: DashboardPage = {
  path: `${section}/:changeId`,
  async show(signedIn) {
    const change = await ask(signedIn, changes.get)
    const { id, source, undoes, undoneBy, createdAt, endedAt } = change
    const listed = await ask(signedIn, changes.records, { query: pageQueryOf(signedIn) })
    const linkTo = (other: string) => recordLink(signedIn, 'changes', other, <code>{other}</code>)
    const facts = [
      ['Begun', <Minute time={createdAt} />],
      ['Ended', endedAt && <Minute time={endedAt} />],
      ['By', lineOf(change.userEmail, 254)],
      ['From', lineOrNone(source, 255)],
      ['State', changeState(change)],
      ['What it did', countLines(change)],
      ['Undoes', undoes && linkTo(undoes)],
      ['Undone by', undoneBy && linkTo(undoneBy)],
      ['ID', <code>{id}</code>],
    ] as const
    return framePage(
      signedIn,
      {
        title: 'Change',
        section,
        back: [signedIn.base + section, 'Changes'],
        heading: lineOf(change.command, 100),
      },
      detailsCard(facts),
      <Card id="undo" title="Undo">
        {undoText(change, signedIn.request.now)}
      </Card>,
      listCard(signedIn, records, listed, { none: 'The audit log has no entry of this change.' }),
    )
  },
}

export const changePages = [...list, page]

const records: List<ChangedRecord> = {
  id: 'records',
  title: 'Differences',
  caption: 'What was done, oldest first',
  columns: [
    {
      name: 'Action',
      cell: ({ id, action }, signedIn) =>
        isRole(signedIn, 'admin') ? (
          recordLink(signedIn, 'audit', id, <Name text={action} />)
        ) : (
          <Name text={action} />
        ),
    },
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
    { name: 'Before and after', look: 'broad', cell: differences },
  ],
}

const derived = ['version', 'updatedAt']
const maxFields = 5

function differences({ before, after }: ChangedRecord): Child {
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

function countLines({ counts }: Change): Child {
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

function changeState({ state, undoneBy }: Change): Child {
  return (
    <>
      {stateTag(state)}
      {undoneBy === null ? null : <small>undone</small>}
    </>
  )
}

function undoText({ id, counts, undoableUntil }: Change, now: Date): Child {
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
