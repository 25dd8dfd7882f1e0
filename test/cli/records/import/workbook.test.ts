import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { ZipFile } from 'yazl'
import { type TestCli, test } from '../../../helpers/cli.ts'

const declaration = '<?xml version="1.0" encoding="UTF-8"?>'
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

/** Writes a workbook from the cells of its sheets, with shared texts and styles as given. */
async function writeWorkbook(
  cli: TestCli,
  name: string,
  { sheets, texts = '', styles = '', properties = '' }: WorkbookParts,
): Promise<void> {
  const zip = new ZipFile()
  const add = (path: string, xml: string) => zip.addBuffer(Buffer.from(`${declaration}${xml}`), path)
  const listed = Object.keys(sheets).map((title, index) => {
    const [plain, state] = title.split(':')
    return `<sheet name="${plain}" sheetId="${index + 1}" ${state ? `state="${state}"` : ''} r:id="rId${index + 1}"/>`
  })
  add(
    'xl/workbook.xml',
    `<workbook xmlns:r="${relations}">${properties}<sheets>${listed.join('')}</sheets></workbook>`,
  )
  const targets = listed.map(
    (_, index) => `<Relationship Id="rId${index + 1}" Target="worksheets/s${index + 1}.xml"/>`,
  )
  add('xl/_rels/workbook.xml.rels', `<Relationships>${targets.join('')}</Relationships>`)
  add('xl/sharedStrings.xml', `<sst>${texts}</sst>`)
  add('xl/styles.xml', `<styleSheet>${styles}</styleSheet>`)
  for (const [index, rows] of Object.values(sheets).entries()) {
    add(
      `xl/worksheets/s${index + 1}.xml`,
      `<x:worksheet xmlns:x="x"><x:sheetData>${rows}</x:sheetData></x:worksheet>`,
    )
  }
  const file = createWriteStream(join(cli.cwd, name))
  zip.outputStream.pipe(file)
  zip.end()
  await once(file, 'close')
}

interface WorkbookParts {
  /** Rows of each sheet by its name, which may end with `:hidden`. */
  readonly sheets: Readonly<Record<string, string>>
  readonly texts?: string
  readonly styles?: string
  readonly properties?: string
}

/** A row of texts. */
const row = (...cells: string[]) =>
  `<x:row>${cells.map((text) => `<x:c t="inlineStr"><x:is><x:t>${text}</x:t></x:is></x:c>`).join('')}</x:row>`

const users = 'users list --sort email --columns email,externalId,profile.firstName,profile.lastName -o json'

test('a workbook is read cell by cell, with the texts and numbers that a spreadsheet shows', {
  tags: ['slow'],
}, async ({ local }) => {
  await writeWorkbook(local, 'u.xlsx', {
    texts: '<si><t>ann@x.example</t></si><si><r><t>An</t></r><r><t>na</t></r><rPh><t>アンナ</t></rPh></si>',
    sheets: {
      'Notes:hidden': row('none'),
      People: [
        row('email', 'externalId', 'firstName', 'lastName'),
        // Row 2 is missing, and C4 is empty.
        '<x:row r="3"><x:c r="A3" t="s"><x:v>0</x:v></x:c><x:c r="B3"><x:v>0.1</x:v></x:c>',
        '<x:c r="C3" t="s"><x:v>1</x:v></x:c><x:c r="D3" t="str"><x:f>A1</x:f><x:v>=1+1</x:v></x:c></x:row>',
        '<x:row r="4"><x:c r="A4" t="inlineStr"><x:is><x:t>bob@x.example</x:t></x:is></x:c>',
        '<x:c r="D4" t="inlineStr"><x:is><x:t xml:space="preserve">&apos;B\nc;=2</x:t></x:is></x:c></x:row>',
      ].join(''),
    },
  })
  const { code, stderr } = await local.run('users import u.xlsx')
  expect({ code, stderr }).toEqual({ code: 0, stderr: 'Imported 2 rows of 2 from u.xlsx: 2 created\n' })
  expect(JSON.parse((await local.run(`${users} --search x.example`)).stdout)).toEqual([
    { email: 'ann@x.example', externalId: '0.1', profile: { firstName: 'Anna', lastName: '=1+1' } },
    { email: 'bob@x.example', externalId: null, profile: { firstName: null, lastName: "'B\nc;=2" } },
  ])
})

test.for([
  ['1900', '', 44927],
  ['1904', '<workbookPr date1904="1"/>', 43465],
] as const)(
  'days and times count from %s, and a time has no zone',
  async ([, properties, day], { local }) => {
    const cell = (reference: string, style: number, value: number) =>
      `<x:c r="${reference}" s="${style}"><x:v>${value}</x:v></x:c>`
    await writeWorkbook(local, 't.xlsx', {
      properties,
      styles:
        '<numFmts><numFmt numFmtId="170" formatCode="[$-407]d\\. mmm\\ yyyy"/></numFmts><cellStyleXfs><xf numFmtId="9"/></cellStyleXfs>' +
        '<cellXfs><xf numFmtId="0"/><xf numFmtId="170"/><xf numFmtId="22"/></cellXfs>',
      sheets: {
        T: `${row('name', 'externalId', 'startDate', 'endDate')}<x:row><x:c t="str"><x:v>Autumn</x:v></x:c><x:c t="str"><x:v>A</x:v></x:c>${cell('C2', 1, day)}${cell('D2', 2, day + 30)}</x:row>`,
      },
    })
    expect(await local.run('terms import t.xlsx')).toMatchObject({ code: 0 })
    const { stdout } = await local.run('terms get A -o json')
    expect(JSON.parse(stdout)).toMatchObject({ startDate: '2023-01-01', endDate: '2023-01-31' })
  },
)

test.for([
  ['an error', '<x:c r="B2" t="e"><x:v>#N/A</x:v></x:c>', 'cell B2 of sheet "A" is an error: #N/A'],
  [
    'a formula that was never calculated',
    '<x:c r="B2"><x:f>1+1</x:f></x:c>',
    'cell B2 of sheet "A" is a formula without',
  ],
  ['a cell beyond all columns', '<x:c r="ZZZZ2"><x:v>1</x:v></x:c>', 'is out of range'],
] as const)('%s is refused, with its place', async ([, cell, message], { local }) => {
  await writeWorkbook(local, 'u.xlsx', {
    sheets: {
      A: `${row('email', 'externalId')}<x:row r="2">${row('a@x.example').slice(7, -8)}${cell}</x:row>`,
    },
  })
  const { code, stderr } = await local.run('users import u.xlsx')
  expect(code).toBe(2)
  expect(stderr).toContain(message)
})

test('a percentage is no number of percent, and its row is named', async ({ local }) => {
  await writeWorkbook(local, 'p.xlsx', {
    styles: '<cellXfs><xf numFmtId="9"/></cellXfs>',
    sheets: {
      First: row('nothing'),
      P: `${row('learnerId', 'courseId', 'completionPercentage')}<x:row r="9">${row('ext:a', 'ext:b').slice(7, -8)}<x:c s="0"><x:v>0.85</x:v></x:c></x:row>`,
    },
  })
  const { code, stderr } = await local.run('progress import p.xlsx --sheet P')
  expect(code).toBe(2)
  expect(stderr).toContain('p.xlsx:9: completionPercentage: must be a number, not "85%"')
})

test('a sheet is chosen by name or number, and the first one is said if there are others', async ({
  local,
}) => {
  const people = (address: string) => row('email') + row(address)
  const sheets = { A: people('a@x.example'), B: people('b@x.example'), '02': people('two@x.example') }
  await writeWorkbook(local, 'u.xlsx', { sheets })
  for (const [flag, address, note] of [
    ['', 'a@x.example', 'note: Reading sheet "A" of u.xlsx, one of 3; --sheet names another\n'],
    ['--sheet B', 'b@x.example', ''],
    ['--sheet 2', 'b@x.example', ''],
    ['--sheet 02', 'two@x.example', ''],
  ] as const) {
    const { stdout, stderr } = await local.run(`users import u.xlsx --dry-run -o json ${flag}`)
    expect(JSON.parse(stdout)).toMatchObject([{ key: address }])
    expect(stderr).toContain(note)
  }
  const { code, stderr } = await local.run('users import u.xlsx --sheet C')
  expect(code).toBe(2)
  expect(stderr).toContain('error: u.xlsx has no sheet "C"\n  Its sheets: "A", "B", "02"\n')
  expect((await local.run('users import u.csv --sheet A')).stderr).toContain(
    '--sheet is about XLSX workbooks',
  )
  expect((await local.run('users import u.xlsx --encoding utf-8')).stderr).toContain('are about text files')
})

test('a workbook that learnctl wrote comes back as it was', async ({ local }) => {
  const create = 'users create --email ann@x.example --external-id 1e5 --last-name "-O" --first-name "=A; 1"'
  expect(await local.run(create)).toMatchObject({ code: 0 })
  expect(await local.run('users export --file users.xlsx')).toMatchObject({ code: 0 })
  const { stdout } = await local.run('users import users.xlsx --dry-run -o json')
  const actions = JSON.parse(stdout).map(({ action }: { action: string }) => action)
  expect(actions).toEqual(['unchanged', 'unchanged'])
})
