import { describe, expect, test } from 'vitest'
import type { Report } from '../../src/contract/analytics.ts'
import { formatsOf } from '../../src/report/format.ts'
import { findingsOf, reportDocument } from '../../src/report/report.tsx'
import { courseFigures, figuresOf, weeksOf } from './sample-figures.ts'

const tides = courseFigures('Tides', 4, 5)
const waves = courseFigures('Waves', 9, 10)

/** The text of a report, without its markup and styles. */
function textOf(html: string): string {
  return html
    .replace(/<style>[\s\S]*?<\/style>/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/[\u2068\u2069]/g, '')
    .replace(/\s+/g, ' ')
}

const sentences = (figures: Report, language = 'en') =>
  findingsOf(figures, formatsOf(language)).map(({ figure, text }) =>
    `${figure} ${text}`.replace(/[\u2068\u2069]/g, '').replace(/[\u00a0\u2009]/g, ' '),
  )

describe('what stands out', () => {
  test('is said in sentences that begin with their figure, each with the numbers behind it', () => {
    expect(sentences(figuresOf([tides, waves]))).toEqual([
      '38% of all enrolments are completed: 15 of 40. Not started: 8.',
      '−20% active learners compared with the period before: 40 in an average week, 50 before that.',
      '40% pass rate in Tides, the lowest of all courses: 4 of 10 graded. All courses together: 65.0%.',
      '13% of all enrolments are inactive: 5 of 40 have had no access for 14 days and are not completed. Most of them are in Tides: 3.',
      '30% pass rate of Essay 1 in Tides, the lowest of all graded items. Its median grade is 48.5%.',
      '25% completed in Tides, the lowest of all courses. The highest is Waves with 50.0%.',
    ])
  })

  test('is about the course alone if there is only one', () => {
    expect(sentences(figuresOf([tides]))).toEqual([
      '25% of all enrolments are completed: 5 of 20. Not started: 4.',
      '−20% active learners compared with the period before: 40 in an average week, 50 before that.',
      '40% of graded enrolments reach the passing score of their course: 4 of 10.',
      '15% of all enrolments are inactive: 3 of 20 have had no access for 14 days and are not completed.',
    ])
  })

  test.for([
    [
      'began',
      weeksOf(8, 8),
      weeksOf(0, 0),
      '8 active learners in an average week; none in the period before.',
    ],
    ['multiplied', weeksOf(80), weeksOf(2), '80 active learners in an average week; 2 in the period before.'],
    [
      'ended',
      weeksOf(0, 0),
      weeksOf(8, 8),
      '0 active learners in this period; 8 in an average week of the period before.',
    ],
    [
      'was never there',
      weeksOf(0, 0),
      weeksOf(0, 0),
      '0 active learners in the period 5 – 25 Oct 2026, and none in the one before.',
    ],
  ] as const)('says that activity %s', ([_, activity, activityBefore, sentence]) => {
    expect(sentences(figuresOf([tides], { activity, activityBefore }))).toContain(sentence)
  })

  test('counts a week that has not ended where no other has activity', () => {
    const [first, second] = weeksOf(0, 14).data
    const activity = { ...weeksOf(), data: [first!, { ...second!, end: '2026-10-13T00:00:00.000Z' }] }
    expect(sentences(figuresOf([tides], { activity, activityBefore: weeksOf(0) }))).toContain(
      '7 active learners in an average week; none in the period before.',
    )
  })

  test('never says 0 for a period with activity', () => {
    const figures = figuresOf([tides], { activity: weeksOf(0, 0, 1), activityBefore: weeksOf(0) })
    expect(sentences(figures)).toContain('1 active learners in an average week; none in the period before.')
  })

  test('compares complete weeks only', () => {
    const [first, second] = weeksOf(40, 2).data
    const cut = { ...weeksOf(), data: [first!, { ...second!, end: '2026-10-13T00:00:00.000Z' }] }
    expect(sentences(figuresOf([tides], { activity: cut, activityBefore: weeksOf(40) }))[1]).toMatch(
      /^0% active/,
    )
  })

  test('neither rounds up to all nor down to none', () => {
    const { roughPercent, percent } = formatsOf('en')
    expect([99.97, 0.01, 100, 0].map(percent)).toEqual(['99.9%', '0.1%', '100.0%', '0.0%'])
    expect([99.7, 0.2, 100, 0].map(roughPercent)).toEqual(['99%', '1%', '100%', '0%'])
  })
})

describe('a report', () => {
  test('is one file that runs nothing and loads nothing', () => {
    const html = reportDocument(figuresOf([tides, waves]), { language: 'en' })
    expect(html).toContain(
      `<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;; base-uri &#39;none&#39;; form-action &#39;none&#39;"/>`,
    )
    expect(html).not.toMatch(
      /<script|<link|<img|<iframe|<object|@import|javascript:|\son\w+=|\s(?:src|href)=/i,
    )
    expect(html.match(/url\([^)]*\)/g)).toEqual(['url(#hatching)'])
  })

  test('shows each number of its drawings as text', () => {
    const text = textOf(reportDocument(figuresOf([tides, waves]), { language: 'en' }))
    expect(text).toContain('2 courses · 40 learners · activity 5 – 25 Oct 2026 · as of 26 Oct 2026')
    expect(text).toContain('90–100% 15')
    expect(text).toContain(
      'Week from Active learners Progress updates Courses completed Grades given 5 Oct 2026 30 90 1 2',
    )
    expect(text).toContain('Essay 1 Tides Middle half 40.0% to 60.0%, median 48.5% 10 40–60% 48.5% 30.0%')
    expect(text).toContain('Inactive No access for 14 days, not completed 12.5% 5 12.5%')
    expect(text).toContain('Waves 10 completed, 6 in progress, 4 not started 20 50.0% 71.3% 90.0% 2')
  })

  test('has its words, dates and numbers in German', () => {
    const html = reportDocument(figuresOf([tides, waves]), { language: 'de' })
    expect(html).toContain('<html lang="de">')
    const text = textOf(html).replaceAll('\u00a0', ' ')
    expect(text).toContain('Lernbericht 2 Kurse · 40 Lernende · Aktivität 05.–25.10.2026 · Stand 26.10.2026')
    expect(text).toContain(
      'Bestehensquote in Tides, die niedrigste aller Kurse: 4 von 10 Benoteten. Alle Kurse zusammen: 65,0 %.',
    )
    expect(text).not.toMatch(/learner|enrolment|complet|course/i)
  })

  test('has dates and numbers of a language without words for it, and says that its words are English', () => {
    const html = reportDocument(figuresOf([tides, waves]), { language: 'fr' })
    expect(html).toContain('<html lang="en">')
    expect(textOf(html)).toMatch(/What stands out.*65,0\s?%/)
    expect(textOf(html)).toContain('26 oct. 2026')
  })

  test('has the title that was given, else that of its only course', () => {
    const titleIn = (html: string) => /<title>(.*)<\/title>/.exec(html)?.[1]
    expect(titleIn(reportDocument(figuresOf([tides]), { language: 'en', title: 'Autumn' }))).toBe('Autumn')
    expect(titleIn(reportDocument(figuresOf([tides]), { language: 'en' }))).toBe('Tides')
    expect(titleIn(reportDocument(figuresOf([tides, waves]), { language: 'en' }))).toBe('Learning report')
  })

  test('shows hostile titles as text, on one line and cut', () => {
    const hostile = `</style><script>alert(1)</script>"'&\u202egnp.exe\n${'x'.repeat(10_000)}`
    const figures = figuresOf([courseFigures(hostile), { ...waves, courseTitle: hostile }])
    const html = reportDocument(
      { ...figures, items: figures.items.map((item) => ({ ...item, itemTitle: hostile })) },
      { language: 'en', title: hostile },
    )
    expect(html).not.toMatch(/<script|\u202e/)
    expect(html).toContain(
      '&lt;/style&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;\\u202egnp.exe\\n',
    )
    expect(html).not.toContain('x'.repeat(200))
  })

  test('tells courses of one title apart by their external ids', () => {
    const figures = figuresOf([tides, { ...waves, courseTitle: 'Tides' }])
    const text = textOf(reportDocument(figures, { language: 'en' }))
    expect(text).toContain('Tides (EXT-0)')
    expect(text).toContain('Tides (EXT-1)')
  })

  test('of nothing is a sentence, without charts', () => {
    const html = reportDocument(figuresOf([]), { language: 'en' })
    expect(textOf(html)).toContain('No learners are enrolled yet, so there is nothing to report.')
    expect(html).not.toMatch(/class="columns"|<table/)
  })

  test('without grades, activity and learners at risk has sentences instead of empty charts', () => {
    const ungraded = { ...tides, graded: 0, passed: 0, passRate: null, averageGradePercent: null }
    const text = textOf(
      reportDocument(
        figuresOf([ungraded], {
          items: [],
          attention: [],
          activity: weeksOf(0, 0),
          activityBefore: weeksOf(0, 0),
        }),
        { language: 'en' },
      ),
    )
    expect(text).toContain('No grades yet.')
    expect(text).toContain('No learner was active in the period 5 – 25 Oct 2026.')
    expect(text).toContain('No learner needs help for one of these reasons.')
  })

  test('stays below a megabyte with as many courses as it lists, and counts the others', () => {
    const courses = Array.from({ length: 600 }, (_, index) =>
      courseFigures(`Course ${'of a long title '.repeat(8)}${index}`),
    )
    const html = reportDocument(figuresOf(courses), { language: 'en' })
    expect(html.length).toBeLessThan(1_000_000)
    expect(textOf(html)).toContain('100 more courses are not listed.')
    expect(textOf(html)).toContain('585 more items with a higher pass rate.')
  })
})
