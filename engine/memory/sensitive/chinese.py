"""Tells a password made of Chinese characters from Chinese prose about passwords; it reads the value alone."""

import re
from typing import Final

VALUE: Final = re.compile(r"[\u4e00-\u9fff]{3,16}[0-9!@#$%&*]{0,8}(?![\u4e00-\u9fffA-Za-z0-9_])(?! [A-Za-z0-9])")
"""A whole run of Chinese characters, with at most a few digits or marks behind; what goes on in Latin is prose."""

# Words of those who write about passwords: who holds it, where it lies, what form it has, what happens to it.
_ABOUT = re.compile(
    r"管理|运维|主管|负责|同事|老板|分配|下发|发[放送给]|通知|获取|申请|联系|查[看询]|参[考见]|详见|^[由见请问找放存写和与同跟按从已未无只每被让为]"
    r"|保[存管密]|存[放储在]|加[密盐]|哈希|散列|明文|密文|隐藏|显示|输[入出]|填写|修改|重[置设]|更[新换改]|轮换|生成|设[置定]|配置|默认"
    r"|可[选空以为]|必[填须要]|禁[用止]|[启停]用|开启|关闭|支持|校验|验证|错误|正确|失败|成功|过期|失效|锁定|长度|位数|字母|数字|符号|字符"
    r"|大小写|复杂|强度|策略|规[则范]|要求|至少|最[多少]|不[能可得要会用再足超少落含对变为含允]|不一致|不正确|不显示|不保存"
    r"|统一|随机|自动|手动|首次|一次性|登录|用户|账[号户]|邮[箱件]|短信|手机|工号|生日|保险|钥匙|变量|文[档件]|规定"
    r"|暂无|没有|为空|空$|的$|了$|吗$|字段|参数|敏感|安全|泄露|外传|仓库|代码|日志|服务|系统|后端|前端|数据库|接口|传输|类型|字符串"
    r"|季度|定期|两次|弱|自己|本人|什么|多少|怎么|哪|是否|需|应该|如果|否则|之[前后]|以[上下内]|相同|一[致样]|忘记|找回|提示|模式"
)


def is_prose(value: str) -> bool:
    """Whether a run of Chinese characters behind a password word speaks about the password instead of being it."""
    return _ABOUT.search(value) is not None
