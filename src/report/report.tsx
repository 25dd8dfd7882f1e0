import { raw } from 'hono/html'
import type { Child } from 'hono/jsx'
import type { Report as ReportFigures } from '../contract/analytics.ts'
import { Card, figureTiles, Hatching, statusBar, statusKey } from './elements.tsx'
import { findingsOf } from './findings.ts'
import { type Formats, formatsOf, type PartProps, type ReportOptions, titleOf } from './format.ts'
import { ActivityPart, AttentionPart, ComparisonPart, Distribution, GradesPart } from './parts.tsx'
import { documentStyle } from './style.ts'

/** Allows the styles of the file, and nothing that runs or is loaded (CSP Level 3 §3.3). */
const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

/** Returns a report as an HTML file that needs no other files, no network and no scripts. */
export function reportDocument(figures: ReportFigures, options: ReportOptions): string {
  const html = (
    <html lang={formatsOf(options.language).language}>
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content={policy} />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <title>{reportTitle(figures, options)}</title>
        <style>{raw(documentStyle)}</style>
      </head>
      <body>
        <Hatching />
        <main>
          <Report figures={figures} options={options} />
        </main>
      </body>
    </html>
  )
  return `<!DOCTYPE html>\n${html}\n`
}

/** Returns the title of a report: the given one, that of its only course, or the words for a report. */
export function reportTitle({ summary }: ReportFigures, { title, language }: ReportOptions): string {
  if (title !== undefined) return titleOf(title)
  const [only, ...others] = summary.byCourse
  const { words } = formatsOf(language)
  return only && others.length === 0 ? titleOf(only.courseTitle) : words.title
}

/** The report: what stands out, then the figures behind it. */
export function Report({
  figures,
  options,
  children,
}: {
  figures: ReportFigures
  options: ReportOptions
  /** Content below its title, such as filters. */
  children?: Child
}) {
  const formats = formatsOf(options.language, figures.activity.timeZone)
  const { words } = formats
  const { summary } = figures
  const part = { figures, formats, courseUrl: options.courseUrl }
  return (
    <article class="report" lang={formats.language}>
      <h1>
        <bdi>{reportTitle(figures, options)}</bdi>
      </h1>
      <p class="about">{aboutOf(figures, formats)}</p>
      {children}
      <Card id="stand-out" title={words.standOut}>
        {summary.enrollments === 0 ? (
          <p>{words.noLearners}</p>
        ) : (
          <ul class="findings">
            {findingsOf(figures, formats).map(({ figure, text }) => (
              <li>
                <strong>{figure}</strong> <span>{text}</span>
              </li>
            ))}
          </ul>
        )}
      </Card>
      {summary.enrollments === 0 ? null : (
        <>
          {keyFigures(part)}
          <CompletionPart {...part} />
          <ActivityPart {...part} />
          <GradesPart {...part} />
          <AttentionPart {...part} />
          <ComparisonPart {...part} />
          <p class="foot">{words.footnote}</p>
        </>
      )}
    </article>
  )
}

/** Returns the line below the title: how many, and when. */
function aboutOf({ summary, start, end, generatedAt }: ReportFigures, formats: Formats): string {
  const { words, count, day, period } = formats
  const { learners, enrollments, byCourse } = summary
  return [
    words.courses(byCourse.length, count(byCourse.length)),
    learners === null
      ? words.enrollmentsCounted(enrollments, count(enrollments))
      : words.learnersCounted(learners, count(learners)),
    words.activityIn(period(start, end)),
    words.asOf(day(generatedAt)),
  ].join(' · ')
}

function keyFigures({
  figures: { summary, attention },
  formats: { words, count, percent },
}: PartProps): Child {
  const { learners, enrollments, completionPercentage, passRate, medianGradePercent } = summary
  const inactive = attention.reduce((sum, course) => sum + course.inactive, 0)
  return figureTiles(
    [
      learners !== null && [words.learners, count(learners)],
      [words.enrollments, count(enrollments)],
      [words.completed, percent(completionPercentage)],
      passRate !== null && [words.passRate, percent(passRate)],
      medianGradePercent !== null && [words.medianGrade, percent(medianGradePercent)],
      [words.inactive, count(inactive)],
    ],
    words.figures,
  )
}

function CompletionPart({ figures: { summary }, formats }: PartProps) {
  const { words, count, percent } = formats
  const { enrollments, completed, inProgress, notStarted, completionDistribution } = summary
  const part = (number: number) => (100 * number) / enrollments
  const word = (name: string, number: number): Child => (
    <>
      {name} <strong>{count(number)}</strong> {percent(part(number))}
    </>
  )
  return (
    <Card id="completion" title={words.completion}>
      {statusBar(
        words.standingOf(count(completed), count(inProgress), count(notStarted)),
        part(completed),
        part(inProgress),
        28,
      )}
      {statusKey(
        word(words.completed, completed),
        word(words.inProgress, inProgress),
        word(words.notStarted, notStarted),
      )}
      <Distribution
        id="by-completion"
        note={words.completionNote}
        rangeName={words.completionRange}
        countName={words.enrollments}
        buckets={completionDistribution}
        formats={formats}
      />
    </Card>
  )
}
