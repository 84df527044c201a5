import { expect, test } from 'vitest';
import { inWords } from '../../src/text/reasons';

test('reasons are said in Chinese, and stay as they are in English', () => {
  expect(inWords('WaitingForQuota', 'en')).toBe('WaitingForQuota');
  expect(inWords('WaitingForQuota', 'zh-CN')).toBe('等待配额');
  expect(inWords('podsReadyTimeout', 'zh-CN')).toBe('Pod 就绪超时');
  expect(inWords('quota: nvidia.com/gpu in h100', 'zh-CN')).toBe('配额不足：h100 的 nvidia.com/gpu');
  expect(inWords('maximum execution time exceeded', 'zh-CN')).toBe('超出最长运行时间');
  expect(inWords('SomethingNew', 'zh-CN')).toBe('SomethingNew');
});
