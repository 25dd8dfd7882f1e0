import { describe, expect } from 'vitest'
import { test } from '../../helpers/cli.ts'
import { type CanvasSchool, canvasToken, fakeCanvas } from '../../helpers/fake-canvas.ts'
import { fakeMoodle, moodleToken } from '../../helpers/fake-moodle.ts'
import { connectTo } from '../../helpers/integration-source.ts'
import { ran } from '../../helpers/result.ts'

const quiz = { id: 71, name: 'Quiz 1', points: 20 }
const school: CanvasSchool = {
  users: [
    { id: 1, sis: 'ada', first: 'Ada', last: 'Lovelace' },
    { id: 2, first: 'Bob', last: 'Smith' },
  ],
  courses: [{ id: 21, sis: 'bio', name: 'Biology' }],
  enrollments: [
    { course: 21, user: 1 },
    { course: 21, user: 2 },
  ],
  scores: [
    { course: 21, user: 1, assignment: quiz, score: 17, gradedAt: '2026-02-01T10:00:00Z' },
    { course: 21, user: 2, assignment: quiz, score: 21, gradedAt: '2026-02-02T10:00:00Z', isPosted: false },
    {
      ...{ course: 21, user: 1, assignment: { id: 72, name: 'Essay', points: 10 } },
      ...{ score: null, gradedAt: '2026-02-01T10:00:00Z' },
    },
  ],
}

describe('grades import --from', () => {
  test('takes the grades of a Canvas by SIS id, mapping and address, and the same again changes nothing', {
    tags: ['slow'],
  }, async ({ local }) => {
    await connectTo(local, 'canvas', fakeCanvas(school), canvasToken)
    await ran(local, 'users create --email ada@school.example --external-id ada')
    await ran(local, 'users create --email bob@school.example')
    const { stdout: id } = await ran(local, 'courses create --title Biology --status published -q')
    await ran(local, `integrations map canvas course 21 ${id.trim()}`)
    await ran(local, `enrollments create ext:ada email:bob@school.example --course ${id.trim()}`)
    const dry = await ran(local, 'grades import --from canvas --dry-run')
    expect(dry.stdout + dry.stderr).toContain('2 create')
    const { stderr } = await ran(local, 'grades import --from canvas')
    expect(stderr).toContain('Imported 2 rows of 2 from canvas-grades: 2 created')
    const { stdout } = await ran(
      local,
      'grades list --sort gradedAt --columns itemId,label,scoreGiven,scoreMaximum,source,published,gradedAt,percent -o json',
    )
    expect(JSON.parse(stdout)).toMatchObject([
      { itemId: '71', label: 'Quiz 1', scoreGiven: 17, scoreMaximum: 20, source: 'canvas', published: true },
      { scoreGiven: 21, gradedAt: '2026-02-02T10:00:00.000Z', published: false },
    ])
    expect((await ran(local, 'grades import --from canvas')).stderr).toContain('2 unchanged')
  })

  test('takes the grade of a course from Moodle, and leaves out its categories', { tags: ['slow'] }, async ({
    local,
  }) => {
    const item = (id: number, type: 'mod' | 'course' | 'category') => ({
      id,
      name: type === 'mod' ? 'Quiz' : '',
      type,
    })
    const grade = { course: 4, user: 11, max: 100, gradedAt: 1_767_225_600 }
    const moodle = fakeMoodle({
      users: [{ id: 11, idnumber: 'S-1', username: 'ada', first: 'Ada', last: 'Lovelace' }],
      courses: [{ id: 4, shortname: 'BIO-101', fullname: 'Biology' }],
      enrollments: [{ course: 4, user: 11 }],
      grades: [
        { ...grade, item: item(91, 'mod'), raw: 80 },
        { ...grade, item: item(92, 'category'), raw: 80 },
        { ...grade, item: item(93, 'course'), raw: 85, gradedAt: 1_767_312_000 },
      ],
    })
    await connectTo(local, 'moodle', moodle, moodleToken)
    await ran(local, 'roster apply integration:moodle --yes')
    await ran(local, 'courses update ext:BIO-101 --status published')
    await ran(local, 'grades import --from moodle')
    const { stdout } = await ran(
      local,
      'grades list --sort gradedAt --columns itemId,label,scoreGiven,scoreMaximum,source,published,gradedAt,percent -o json',
    )
    expect(JSON.parse(stdout)).toMatchObject([
      { itemId: '91', label: 'Quiz', percent: 80 },
      { itemId: '$course', percent: 85 },
    ])
  })

  test.for(['--delimiter ;', '--encoding latin1', '--format csv', '--date-format excel', '--clear-empty'])(
    'refuses %s, which is about files',
    async (flag, { local }) => {
      const { stderr } = await ran(local, `grades import --from canvas ${flag.replace(';', "';'")}`, 2)
      expect(stderr).toContain(`error: ${flag.split(' ')[0]} is about files; --from canvas has none\n`)
    },
  )

  test('takes no file beside it', async ({ local }) => {
    const { stderr } = await ran(local, 'grades import grades.csv --from canvas', 2)
    expect(stderr).toContain('A file and --from cannot be used together')
  })
})
