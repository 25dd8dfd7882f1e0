import type { Child } from 'hono/jsx'
import type { Reply } from '../http/reply.ts'
import type { ProblemError } from '../problem/problem-error.ts'
import type { DashboardPage } from './dashboard-page.ts'
import type { FilledIn } from './form.tsx'
import { framed, type Section } from './frame.tsx'
import { type IntegrationPart, IntegrationParts } from './integration-parts.tsx'
import { nextPage } from './paging.tsx'
import type { SignedInRequest } from './signed-in-request.ts'
import { type Column, Table } from './table.tsx'

/** A page of the dashboard that is a list of records, with a form for another one where there is one. */
export interface ListPage<Item> {
  readonly path: DashboardPage['path']
  readonly section: Section
  readonly title: string
  /** The title unless given. */
  readonly heading?: string
  /** What this page is among those of the integrations. */
  readonly part?: IntegrationPart
  readonly intro: Child
  readonly list: List<Item>
  /** The records of the page that is asked for; with a fault where its filter is wrong. */
  readonly read: (signedIn: SignedInRequest) => Promise<Listed<Item>>
  readonly filters?: (signedIn: SignedInRequest, listed: Listed<Item>) => Child
  /** Content in place of a table without rows. */
  readonly none?: (signedIn: SignedInRequest, listed: Listed<Item>) => Child
  /** Content below the list. */
  readonly below?: (signedIn: SignedInRequest) => Promise<Child>
  readonly form?: {
    readonly title: string
    /** The fields before they are filled in, as a query. */
    readonly initial?: string
    readonly Fields: (filledIn: FilledIn) => Child
  }
  readonly act?: DashboardPage['act']
}

/** A list of records: its heading and its columns. */
export interface List<Item> {
  /** The id of the heading. */
  readonly id: string
  readonly title: string
  readonly caption: string
  readonly columns: readonly ListColumn<Item>[]
}

/** A column of a list, and what it shows of each record. */
export interface ListColumn<Item> extends Column {
  readonly cell: (item: Item, signedIn: SignedInRequest) => Child
}

/** Records of a list. */
export interface Listed<Item> {
  readonly data: readonly Item[]
  /** Absent for a list that has one page only. */
  readonly nextCursor?: string | null
  readonly fault?: ProblemError
}

/** The page of a list, and what its form does. */
export function listPage<Item>(page: ListPage<Item>): DashboardPage {
  const { path, act, form } = page
  const show = (signedIn: SignedInRequest) => shownList(page, signedIn)
  const again = (signedIn: SignedInRequest, fault: ProblemError, filledIn: URLSearchParams) =>
    shownList(page, signedIn, fault, filledIn)
  return { path, show, ...(act && { act }), ...(form && { again }) }
}

async function shownList<Item>(
  { section, title, heading = title, part, intro, list, form, ...page }: ListPage<Item>,
  signedIn: SignedInRequest,
  formFault?: ProblemError,
  filledIn = new URLSearchParams(form?.initial),
): Promise<Reply> {
  const listed = await page.read(signedIn)
  const fault = formFault ?? listed.fault
  return framed(
    signedIn,
    { title: fault ? `Error: ${withinSentence(title)}` : title, section, fault },
    <>
      <h1>{heading}</h1>
      {part ? <IntegrationParts signedIn={signedIn} shown={part} /> : null}
      <p>{intro}</p>
      <ListCard
        {...{ signedIn, list, listed }}
        above={page.filters?.(signedIn, listed)}
        none={page.none?.(signedIn, listed)}
      />
      {await page.below?.(signedIn)}
      {form ? (
        <section class="card short" aria-labelledby="new">
          <h2 id="new">{form.title}</h2>
          <form.Fields signedIn={signedIn} form={filledIn} fault={formFault} />
        </section>
      ) : null}
    </>,
  )
}

/** A title as it stands within a sentence: `Webhook endpoints`, but not `API keys`, begins with a small letter. */
function withinSentence(title: string): string {
  return title.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())
}

/** A list on a card of its own, with what stands above and below its table. */
export function ListCard<Item>({
  signedIn,
  list,
  listed,
  above,
  none,
  below,
}: {
  signedIn: SignedInRequest
  list: List<Item>
  listed: Listed<Item>
  above?: Child
  /** Content in place of a table without rows. */
  none?: Child
  below?: Child
}) {
  return (
    <section class="card" aria-labelledby={list.id}>
      <h2 id={list.id}>{list.title}</h2>
      {above}
      <ListTable {...{ signedIn, list, listed, none }} />
      {below}
    </section>
  )
}

/** The table of a list, and the links to its other pages. */
export function ListTable<Item>({
  signedIn,
  list: { caption, columns },
  listed: { data, nextCursor },
  none,
}: {
  signedIn: SignedInRequest
  list: Pick<List<Item>, 'caption' | 'columns'>
  listed: Listed<Item>
  none?: Child
}) {
  const isEmpty = data.length === 0 && none !== undefined
  return (
    <>
      {isEmpty ? none : null}
      {isEmpty ? null : (
        <Table
          caption={caption}
          columns={columns}
          rows={data.map((item) => columns.map(({ cell }) => cell(item, signedIn)))}
        />
      )}
      {nextCursor === undefined ? null : nextPage(signedIn, nextCursor)}
    </>
  )
}
