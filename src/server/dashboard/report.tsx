import { analytics } from '../../contract/analytics.ts'
import { type ReportLanguage, reportLanguages } from '../../report/format.ts'
import { Report, reportDocument, reportTitle } from '../../report/report.tsx'
import { reportStyle } from '../../report/style.ts'
import { ask, type SignedInRequest } from './call-api.ts'
import { courseFilter, termFilter } from './courses.tsx'
import type { DashboardPage } from './dashboard-page.ts'
import { framePage } from './frame.tsx'
import { type FilterField, filterForm, pathWith, withoutPageOf } from './list-parameters.tsx'
import { recordUrl } from './values.tsx'

const path = '/dashboard/report'

const languageNames: Readonly<Record<ReportLanguage, string>> = { en: 'English', de: 'Deutsch' }

/** As `learnctl report` writes it to a file, with its filters in the URL. */
const page: DashboardPage = {
  path,
  isLong: () => true,
  async show(signedIn) {
    const { figures, options } = await readReport(signedIn)
    return framePage(
      signedIn,
      {
        title: options.title === undefined ? 'Report' : reportTitle(figures, options),
        section: path,
        style: reportStyle,
        heading: null,
      },
      <Report figures={figures} options={options}>
        <details id="filter" class="fold" lang="en">
          <summary>Filter</summary>
          {filterForm(signedIn, 'Filter the report', await fieldsOf(signedIn), 'filter')}
        </details>
        <p class="files" lang="en">
          Download{' '}
          <a
            href={pathWith(`${signedIn.base}${path}.html`, withoutPageOf(signedIn.query))}
            aria-label="Download HTML"
          >
            HTML
          </a>{' '}
          <span class="note">(one page, which prints as PDF)</span>
        </p>
      </Report>,
    )
  },
}

const file: DashboardPage = {
  path: `${path}.html`,
  isLong: () => true,
  async show(signedIn) {
    const { figures, options } = await readReport(signedIn)
    return {
      status: 200,
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-disposition': 'attachment; filename="report.html"',
        ...signedIn.visitor.headers,
      },
      // A file has no pages of courses to link to.
      body: reportDocument(figures, { language: options.language, title: options.title }),
    }
  },
}

export const reportPages = [page, file]

async function readReport(signedIn: SignedInRequest) {
  const given = (name: string) => signedIn.query.get(name)?.trim() || undefined
  const figures = await ask(signedIn, analytics.report, {
    query: {
      start_date: given('start_date'),
      end_date: given('end_date'),
      course_id: given('course'),
      term_id: given('term'),
    },
  })
  const language: ReportLanguage = reportLanguages.find((one) => one === given('language')) ?? 'en'
  const options = {
    language,
    title: given('title'),
    courseUrl: (courseId: string) => recordUrl(signedIn, 'courses', courseId),
  }
  return { figures, options }
}

async function fieldsOf(signedIn: SignedInRequest): Promise<FilterField[]> {
  const course = await courseFilter(signedIn)
  const term = await termFilter(signedIn)
  return [
    course,
    ...(term ? [term] : []),
    { name: 'start_date', label: 'Activity from', type: 'date' },
    { name: 'end_date', label: 'Activity to', type: 'date' },
    { name: 'title', label: 'Title' },
    {
      name: 'language',
      label: 'Language',
      choices: reportLanguages.slice(1).map((one) => [one, languageNames[one]] as const),
      all: languageNames.en,
    },
  ]
}
