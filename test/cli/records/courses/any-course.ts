import fc from 'fast-check'
import { CourseDocument, documentOf, recordsOf } from '../../../../src/cli/records/sources/course.ts'
import { moduleNames } from '../../../../src/contract/known-ids.ts'
import { anyText } from '../../../helpers/random.ts'

/** Texts that readers of YAML, lines or numbers could misread, and any others. */
const oddText = fc.oneof(
  fc.constantFrom(
    ...[
      'yes',
      'No',
      'null',
      '~',
      '0x10',
      '1_000',
      '12:30',
      '1e3',
      '-',
      '- a',
      'a: b',
      '# a',
      'a #b',
      '*a',
      '&a',
    ],
    ...[
      'a\nb\n',
      '  a\n b',
      'a\n\n\n',
      '\ta',
      'a\r\nb',
      'a\u2028b',
      'a\u0085b',
      'ä\u0308',
      '🌊',
      '<<',
      '=',
      '%a',
      '2026-01-31',
    ],
    ...[
      '{a}',
      '[a',
      'a, b',
      '"a"',
      "it's",
      '---',
      '...',
      'a\u0007b',
      '!!str a',
      '`a',
      '|',
      '>',
      'a \nb',
      ' ',
    ],
  ),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
)
// fc.webUrl takes two seconds to make.
const url = fc
  .record({
    path: fc.array(anyText, { maxLength: 3 }),
    query: fc.dictionary(anyText, anyText, { maxKeys: 2 }),
  })
  .map(({ path, query }) => {
    const address = new URL(
      `https://media.example.org/${path.map((part) => encodeURIComponent(part.toWellFormed())).join('/')}`,
    )
    return `${address}?${new URLSearchParams(query)}`
  })
const title = oddText.map((text) => text.trim() || 'T')
const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined })

const block = fc.oneof(
  fc.record({ type: fc.constantFrom('markdown', 'text', 'code'), title: optional(oddText), body: oddText }),
  fc.record({
    type: fc.constant('video'),
    url,
    altText: optional(oddText),
  }),
)
const question = fc.record({
  type: fc.constantFrom('short_answer', 'numeric', 'essay'),
  prompt: title,
  choices: fc.array(fc.record({ id: title, text: title }), { maxLength: 2 }),
  points: fc.constantFrom(0, 1, 2.5),
  answer: fc.oneof(oddText, fc.constantFrom(null, true, 0, 1.5), fc.array(oddText, { maxLength: 2 })),
})
const assessment = fc.record({
  type: fc.constantFrom('quiz', 'exam'),
  title,
  passingScore: optional(fc.integer({ min: 0, max: 100 })),
  dueAt: optional(fc.constant('2026-05-01T10:00:00+02:00')),
  questions: fc.array(question, { maxLength: 2 }),
})
const lesson = fc.record({
  title,
  description: optional(oddText),
  durationMinutes: optional(fc.nat(90)),
  status: fc.constantFrom('draft', 'published'),
  learningObjectives: fc.array(title, { maxLength: 2 }),
  contentBlocks: fc.array(block, { maxLength: 3 }),
  assessments: fc.array(assessment, { maxLength: 2 }),
})
const placed = fc.record({
  lesson,
  module: fc.nat(5),
  externalId: fc.option(fc.integer({ min: 0, max: 99 }), { nil: null }),
})

/** Documents of courses as the program writes them, with lessons of the modules in any order. */
export const anyCourse = fc
  .record({
    attributes: fc.record({
      title,
      status: fc.constantFrom('draft', 'published', 'archived'),
      description: optional(oddText),
      tags: fc.uniqueArray(title, { maxLength: 2 }),
      language: optional(fc.constantFrom('en', 'pt-BR')),
      assessmentCriteria: optional(
        fc.record({
          passingScore: fc.integer({ min: 0, max: 100 }),
          weights: fc.array(fc.record({ name: title, weight: fc.integer({ min: 0, max: 50 }) }), {
            maxLength: 2,
          }),
        }),
      ),
      managedBy: optional(fc.constantFrom('sync', 'yes')),
    }),
    modules: fc.array(fc.record({ title, description: optional(oddText) }), { maxLength: 4 }),
    lessons: fc.uniqueArray(placed, {
      maxLength: 6,
      selector: ({ externalId }) => externalId ?? Symbol('none'),
    }),
  })
  .map(({ attributes, modules, lessons }) => {
    const course = CourseDocument.parse({ externalId: 'any', ...attributes, modules })
    const records = lessons.map(({ lesson, module, externalId }, index) => {
      const entry = { ...lesson, externalId: externalId === null ? null : `les-${externalId}` }
      const [record] = recordsOf(
        CourseDocument.parse({ externalId: 'any', title: 'T', lessons: [entry] }),
      ).lessons
      return { ...record, module: module < modules.length ? module : null, order: index + 1 }
    })
    const names = moduleNames(modules)
    return documentOf({
      course: recordsOf(course).course,
      lessons: records.map((record) => ({
        ...record,
        module: record.module === null ? null : names[record.module],
      })),
    })
  })
