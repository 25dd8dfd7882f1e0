import { describe, expect, test } from 'vitest'
import { guardCsv } from '../../../src/cli/export/csv-bytes.ts'
import { separatorOf } from '../../../src/codec/csv.ts'

/** Guards a CSV that arrives in pieces of some length. */
async function through(text: string, size = Number.POSITIVE_INFINITY): Promise<string> {
  const bytes = Buffer.from(text)
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += size)
      yield bytes.subarray(at, at + Math.min(size, bytes.length))
  }
  const csv = guardCsv(pieces(), separatorOf(text.split('\n', 1)[0] ?? ''))
  const parts: Uint8Array[] = []
  for await (const piece of csv) parts.push(piece)
  return Buffer.concat(parts).toString('utf8')
}

const long = 'x'.repeat(90)

describe('a cell gets the guard', () => {
  test.for([
    ['in the middle', 'a,b\r\n1,=1+1\r\n', "a,b\r\n1,'=1+1\r\n"],
    ['at the beginning of a line', 'a,b\n@SUM(A1),2\n', "a,b\n'@SUM(A1),2\n"],
    ['in quotes', 'a,b\n1,"=HYPERLINK(""x"")"\n', 'a,b\n1,"\'=HYPERLINK(""x"")"\n'],
    ['that is a header', '=a,b\n1,2\n', "'=a,b\n1,2\n"],
    ['after a byte order mark', '\ufeff=a,b\n1,2\n', "\ufeff'=a,b\n1,2\n"],
    ['after a byte order mark of a long file', `\ufeff=a,b\n${long},2\n`, `\ufeff'=a,b\n${long},2\n`],
    ['in full width', 'a,b\n1,＝1+1\n', "a,b\n1,'＝1+1\n"],
    ['that begins with a tab', 'a,b\n1,\t=1\n', "a,b\n1,'\t'=1\n"],
    ['that begins with a line feed', 'a,b\n1,"\n=1"\n', 'a,b\n1,"\'\n=1"\n'],
    ['at the very end', 'a,b\n1,=1+1', "a,b\n1,'=1+1"],
    ['between semicolons', 'a;b\n1,2;=1+1\n', "a;b\n1,2;'=1+1\n"],
    ['between tabs', 'a\tb\n\t=1+1\n', "a\tb\n\t'=1+1\n"],
    ['between bars', 'a|b\n1|-x\n', "a|b\n1|'-x\n"],
    ['after a separator of another CSV', 'a,b\n1;=2,"x|@y\t-z;-5"\n', "a,b\n1;'=2,\"x|'@y\t'-z;-5\"\n"],
    ['that begins like a number', 'a,b\n1,-2+3\n', "a,b\n1,'-2+3\n"],
    ['after a quote inside of a cell', 'a,b\n1,5" x\n2,=1\n', 'a,b\n1,5" x\n2,\'=1\n'],
    ['after a text behind quotes', 'a,b\n"1"",""" x","=1"\n', 'a,b\n"1"",""" x","\'=1"\n'],
    ['after quotes behind a mark', '\ufeff"a",=b\n1,2\n', '\ufeff"a",\'=b\n1,2\n'],
    ['far behind', `a,b\n${long},${long}\n"${long}",=1\n`, `a,b\n${long},${long}\n"${long}",'=1\n`],
  ] as const)('%s', async ([, csv, safe]) => {
    for (const size of [Number.POSITIVE_INFINITY, 1, 2, 3, 7, 64, 65]) {
      expect(await through(csv, size), `pieces of ${size}`).toBe(safe)
    }
  })
})

describe('nothing is changed', () => {
  test.for([
    ['of numbers with a sign', 'a,b,c,d\n-1,+2.5,"-3,5",-1e-9%\n'],
    ['of a guard that is there', 'a,b\n\'=1+1,"\'-x"\n'],
    ['inside of quotes', 'a,b\n"x,=1\n=2\n""=3",4\n'],
    ['in the middle of a cell', 'a,b\n1=1,x-y@z\n'],
    ['of empty last cells', 'a,b\r\n1,\r\n,\r\n'],
    ['of bytes that are no UTF-8', 'a,b\nÃ©,\u00bf=\n'],
    ['of nothing', ''],
    ['of long texts', `a,b\n"${long},=${long}",${long}\n`.repeat(5)],
  ] as const)('%s', async ([, csv]) => {
    for (const size of [Number.POSITIVE_INFINITY, 1, 5, 64, 100]) {
      expect(await through(csv, size), `pieces of ${size}`).toBe(csv)
    }
  })
})
