import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { CourseDocument } from '../../../src/cli/records/sources/course.ts'
import type { Io } from '../../../src/cli/terminal/io.ts'
import {
  readPlacedDocument,
  refusedDocument,
  violationsIn,
} from '../../../src/cli/terminal/placed-document.ts'
import { test } from '../../helpers/cli.ts'

const wrongYaml = `externalId: a
lessons: &all
  - title: ""
    order: 0
    "body": x
modules:
  - lessons: *all
`

test.for([
  ['wrong.yaml', wrongYaml, [1, 3, 4, 5, 7, 3, 4, 5]],
  [
    'wrong.json',
    '{\n"externalId": "a",\n"lessons": [\n{"title": "", "order": 0,\n"body": 1}]}',
    [1, 4, 4, 5],
  ],
] as const)('every problem of %s is told with its line', async ([name, text, lines], { cli }) => {
  writeFileSync(join(cli.cwd, name), text)
  // Reading a file needs no other part of a run.
  const io = { cwd: cli.cwd, signal: new AbortController().signal } as unknown as Io
  const document = await readPlacedDocument(io, name)
  const parsed = CourseDocument.safeParse(document.value, { reportInput: true })
  const { message, why } = refusedDocument(
    document,
    parsed.error ? violationsIn(CourseDocument, parsed.error) : [],
  )
  expect(message).toBe(`${lines.length} problems found in ${name}; nothing was sent`)
  expect(why.map((line) => Number(line.split(':')[1]))).toEqual(lines.toSorted())
  expect(why).toContain(`${name}:1: title is required`)
  expect(why).toContain(`${name}:${lines[1]}: lessons[0].title must have at least 1 character, not ""`)
  expect(why).toContain(`${name}:${lines[3]}: lessons[0].body is not a known field`)
})
