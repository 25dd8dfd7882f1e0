import { calls } from '../../contract/calls.ts'
import { type Command, type Given, plainText } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { bindQueryFlags, timeZoneFlag, withTimeZone } from '../command/flag.ts'
import { fileTarget, targetFlags } from '../export/export-options.ts'
import { reportFilters } from '../flags/analytics.ts'
import { showRequest } from '../operation/dry-run.ts'
import { queryOf } from '../operation/operation-flags.ts'
import { UsageError } from '../terminal/errors.ts'
import { withFlagNames } from './export.ts'

const filterFlags = bindQueryFlags(reportFilters)

const titleFlag = {
  name: 'title',
  kind: 'text',
  placeholder: 'text',
  summary: 'Title of the report',
  default: 'that of the only course, else Learning report',
} as const

const languageFlag = {
  name: 'language',
  kind: 'text',
  placeholder: 'tag',
  summary: 'Language, such as de or pt-BR: of dates and numbers, and of the words in en and de, else English',
  default: 'en',
} as const

export const command: Command = {
  name: 'report',
  summary: 'Write a report of completion, activity and grades as an HTML page',
  writes: [],
  prints: [],
  description:
    'One file for readers without an account: what stands out, then completion, activity, grades by item, learners who may need\nhelp, and the courses side by side. It runs no scripts, loads nothing, names no learner, and prints as PDF from any browser.\n\nDates select the activity, which is compared with the period before. All other figures are about the enrolments as they\nare now.',
  flags: [
    ...withTimeZone(filterFlags.map(({ flag }) => flag)),
    titleFlag,
    languageFlag,
    ...targetFlags.filter(({ name }) => name === 'file' || name === 'force'),
  ],
  refuses: {
    ...plainText,
    output: 'The report is HTML; its figures as JSON: learnctl api analytics.report',
  },
  examples: [
    'report --file report.html',
    'report --start-date 2014-10-01 --end-date 2014-12-31 --title "Autumn 2014" --file autumn.html',
    'report --course ext:AAA-2014J --last 1y --language de > bericht.html',
  ],
  run: withFlagNames(filterFlags, run),
}

async function run(context: Context, given: Given): Promise<void> {
  const { io, session, settings, output } = context
  const { flags } = given
  const { file, force } = fileTarget(given)
  requireHtml(file)
  const language = languageOf(String(flags[languageFlag.name] ?? 'en'))
  const title = titleOf(flags[titleFlag.name])
  const query = queryIn(context, given)
  if (file === undefined && io.stdout.isTTY && !settings.dryRun.value) {
    throw new UsageError('Refusing to print HTML to the terminal', {
      hint: 'Write it to a file: learnctl report --file report.html',
    })
  }
  const caller = await session.caller()
  const operation = calls.analytics.report
  if (settings.dryRun.value) return showRequest(context, caller.request(operation, { query }))
  const [{ openTarget }, { reportDocument }, { wordLanguageOf }] = await Promise.all([
    import('../terminal/target-file.ts'),
    import('../../report/report.tsx'),
    import('../../report/format.ts'),
  ])
  // Opened first: a file that exists is reported before anything is read.
  const target = file === undefined ? null : await openTarget(io.cwd, file, { force })
  try {
    const { data } = await caller.call(operation, { query, signal: io.signal })
    const html = reportDocument(data, { title, language })
    await (target ? target.write(Buffer.from(html)) : output.exact([html]))
    await target?.finish()
    if (target) await output.done(`Wrote ${file}`)
  } catch (error) {
    await target?.discard()
    throw error
  }
  if (wordLanguageOf(language) === undefined) {
    await output.note(
      `The words of the report are in English: those of ${language} are not available, only dates and numbers`,
    )
  }
}

/** Throws a UsageError for a name that promises another format. */
function requireHtml(file: string | undefined): void {
  if (!/\.(pdf|docx?|odt|csv|json|jsonl|xlsx|parquet|gz)$/i.test(file ?? '')) return
  throw new UsageError(`Cannot write ${file}: the report is HTML`, {
    hint: /\.pdf$/i.test(file ?? '')
      ? 'Use a name that ends in .html, and print the page as PDF from any browser'
      : 'Use a name that ends in .html; its figures as JSON: learnctl api analytics.report',
  })
}

/** Returns a language tag in its canonical form (BCP 47). Throws a UsageError for one that is malformed or unknown. */
function languageOf(tag: string): string {
  try {
    const [canonical] = Intl.DateTimeFormat.supportedLocalesOf([tag])
    if (canonical !== undefined) return canonical
  } catch {
    // Malformed.
  }
  throw new UsageError(
    `--${languageFlag.name} must be a language, such as en, de or pt-BR, not ${JSON.stringify(tag)}`,
  )
}

function titleOf(given: unknown): string | undefined {
  if (given === undefined) return undefined
  const title = String(given).trim()
  if (title === '') throw new UsageError(`--${titleFlag.name} must not be empty`)
  return title
}

function queryIn({ io }: Context, { flags }: Given) {
  const zone = String(flags[timeZoneFlag.name] ?? (io.env['LEARNCTL_TIMEZONE'] || 'UTC'))
  return { ...queryOf(filterFlags, flags), ...(zone === 'UTC' ? {} : { time_zone: zone }) }
}
