import type { Child } from 'hono/jsx'
import { isDay } from '../../codec/time-text.ts'
import type { Reply } from '../http/reply.ts'
import type { ProblemError } from '../problem-error.ts'
import type { SignedInRequest } from './call-api.ts'
import type { DashboardPage } from './dashboard-page.ts'
import type { FilledIn } from './form.tsx'
import { framePage, PageTabs, type Section } from './frame.tsx'
import { nextPage } from './paging.tsx'
import { type Column, Table } from './table.tsx'

/** A page with a list of records, and perhaps a form that creates one. */
interface ListPage<Item> {
  readonly path: DashboardPage['path']
  readonly section: Section
  readonly title: string
  /** Default: the title. */
  readonly heading?: string
  readonly tab?: IntegrationTab
  readonly intro: Child
  readonly list: List<Item>
  /** Reads the requested page of records; `fault` tells what is wrong with its filter. */
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

/** A page of records. */
export interface Listed<Item> {
  readonly data: readonly Item[]
  /** Absent if the list has a single page. */
  readonly nextCursor?: string | null
  readonly fault?: ProblemError
}

/** Returns the page that shows a list and handles its form. */
export function listPage<Item>(page: ListPage<Item>): DashboardPage {
  const { path, act, form } = page
  const show = (signedIn: SignedInRequest) => showList(page, signedIn)
  const again = (signedIn: SignedInRequest, fault: ProblemError, filledIn: URLSearchParams) =>
    showList(page, signedIn, fault, filledIn)
  return { path, show, ...(act && { act }), ...(form && { again }) }
}

async function showList<Item>(
  { section, title, heading = title, tab, intro, list, form, ...page }: ListPage<Item>,
  signedIn: SignedInRequest,
  formFault?: ProblemError,
  filledIn = new URLSearchParams(form?.initial),
): Promise<Reply> {
  const listed = await page.read(signedIn)
  const fault = formFault ?? listed.fault
  return framePage(
    signedIn,
    { title: fault ? `Error: ${withinSentence(title)}` : title, section, fault },
    <>
      <h1>{heading}</h1>
      {tab ? <IntegrationTabs signedIn={signedIn} shown={tab} /> : null}
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

/** Lower-cases the first letter, unless the title starts with an abbreviation (`API keys`). */
function withinSentence(title: string): string {
  return title.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())
}

/** A card with a list, and content above and below its table. */
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

const tabs = [
  ['/dashboard/integrations', 'Connections'],
  ['/dashboard/deliveries', 'Deliveries'],
  ['/dashboard/endpoints', 'Webhook endpoints'],
  ['/dashboard/messages', 'Messages'],
] as const

type IntegrationTab = (typeof tabs)[number][1]

/** Tabs of the integration pages: incoming and outgoing. */
function IntegrationTabs({
  signedIn: { base },
  shown,
}: {
  signedIn: SignedInRequest
  shown: IntegrationTab
}) {
  return (
    <PageTabs
      label="Integrations"
      shown={shown}
      tabs={tabs.map(([path, name]) => [base + path, name] as const)}
    />
  )
}

/** Links that filter a list by one value of a parameter, such as its status. */
export function StatusFilter({
  label,
  here,
  parameter = 'status',
  choices,
  nameOf = capitalized,
  chosen,
  anchor,
}: {
  label: string
  /** URL of the list, with its other parameters. */
  here: string
  parameter?: string
  choices: readonly string[]
  nameOf?: (choice: string) => string
  chosen: string | undefined
  /** Id of the element to scroll to. */
  anchor: string
}) {
  return (
    <nav class="filter" aria-label={label}>
      <ul>
        {[undefined, ...choices].map((choice) => {
          const search = choice === undefined ? '' : `${here.includes('?') ? '&' : '?'}${parameter}=${choice}`
          return (
            <li>
              <a href={`${here}${search}#${anchor}`} aria-current={choice === chosen ? 'true' : undefined}>
                {choice === undefined ? 'All' : nameOf(choice)}
              </a>
            </li>
          )
        })}
      </ul>
    </nav>
  )
}

function capitalized(word: string): string {
  return `${word[0]?.toUpperCase()}${word.slice(1)}`
}

/** Returns the start of a day in UTC, moved by `later` milliseconds. Other text is returned as it is, for the API to refuse. */
export function startOfDay(day: string | undefined, later = 0): string | undefined {
  if (day === undefined || !isDay(day)) return day
  return new Date(Date.parse(`${day}T00:00:00.000Z`) + later).toISOString()
}
