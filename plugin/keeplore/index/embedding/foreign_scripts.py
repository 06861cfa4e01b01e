"""Whether a model reads the script of a question: one that does not finds everything in it alike,
whatever it says.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from keeplore.index.embedding.similarity_floor import floor_between
from keeplore.text.unspaced import runs, without_runs

if TYPE_CHECKING:
    from keeplore_hooks.contracts import Embedder

# how far above the model's floor unrelated sentences may be, as a share of what is above it;
# measured: 0.41 to 1 with two models of English
MOST_ALIKE = 1 / 3
# letters of other scripts for each one of these, from which on a question is read as theirs
NAMES = 2
# sentences that have nothing to do with one another
_UNRELATED = {
    re.compile("[\uac00-\ud7a3]"): """
        로그인 화면이 기호가 든 비밀번호를 거절한다.
        테스트가 통과하면 목요일에 공개한다.
        세션 키가 사라지지 않아 메모리가 바닥났다.
        들여쓰기는 빈칸 네 개로 한다.
        스위스 고객의 청구서에 세율이 틀렸다.
        카메라 권한을 거부하면 앱이 죽는다.
        단추는 파란색으로 오른쪽 끝에 둔다.
        센서가 영하 이백 도라고 알린다.
    """,
    re.compile("[\u0e00-\u0e7f]"): """
        หน้าเข้าสู่ระบบไม่รับรหัสผ่านที่มีสัญลักษณ์
        ปล่อยรุ่นใหม่วันพฤหัสบดีเมื่อทดสอบผ่าน
        หน่วยความจำหมดเพราะคีย์ไม่เคยหมดอายุ
        ย่อหน้าด้วยช่องว่างสี่ช่องทุกไฟล์
        ใบแจ้งหนี้ของลูกค้าสวิสคิดภาษีผิด
        แอปล่มเมื่อไม่อนุญาตให้ใช้กล้อง
        ปุ่มควรเป็นสีน้ำเงินและอยู่ด้านขวา
        เซ็นเซอร์รายงานว่าติดลบสองร้อยองศา
    """,
    re.compile("[\u3041-\u30ff]"): """
        ログイン画面が記号の入ったパスワードを拒む。
        テストが通れば木曜に公開する。
        セッションの鍵が消えずメモリが尽きた。
        字下げは空白四つにそろえる。
        スイスの顧客の請求書で税率が違う。
        カメラの許可を断るとアプリが落ちる。
        ボタンは青くして右端に置く。
        センサーが零下二百度と報告する。
    """,
    re.compile("[\u4e00-\u9fff]"): """
        登录页面不接受带变音符号的密码。
        星期四测试通过以后发布新版本。
        会话的键从不过期，内存用光了。
        每个文件都用四个空格缩进。
        发票上的税率对瑞士客户是错的。
        拒绝相机权限以后手机应用就崩溃。
        按钮应该是蓝色的，放在右边。
        传感器报告零下两百度。
    """,
}


def reads_script_of(embedder: Embedder, text: str) -> bool:
    """False where most of a text is in a script in which the model takes unrelated sentences for
    related ones; for other texts nothing is asked of it. Raises ModelUnavailable.
    """
    found = "".join(runs(text))
    others = sum(map(str.isalpha, without_runs(text)))
    if not found or NAMES * len(found) < others:
        return True
    script = next((script_ for script_ in _UNRELATED if script_.search(found)), None)
    if script is None:
        return True
    known = _known_scripts(embedder.fingerprint)
    if script.pattern not in known:
        sentences = [line.strip() for line in _UNRELATED[script].strip().splitlines()]
        vectors = embedder.embed(sentences)
        alike = floor_between(vectors, vectors) - embedder.floor
        known[script.pattern] = alike <= MOST_ALIKE * (1.0 - embedder.floor)
    return known[script.pattern]


@functools.lru_cache(maxsize=4)
def _known_scripts(_fingerprint: str) -> dict[str, bool]:
    """The scripts that a model was tried with."""
    return {}
